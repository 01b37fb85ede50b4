package org.hghca.cm.ib;

import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.mad.Mra;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.cm.mad.Rtu;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The end that is asked: REP. */
final class PassiveHandshake extends IbHandshake {
  private final long interval;
  private final int retries;
  private int qpNumber;

  PassiveHandshake(
      MadAgent agent, Handshakes handshakes, long transaction, Req req, ConnectRequest request) {
    super(
        agent,
        handshakes,
        request.path(),
        request.ackTimeout(),
        State.REQ_RCVD,
        transaction,
        Optional.empty());
    this.interval = Timeouts.response(req.localResponseTimeout());
    this.retries = req.maxCmRetries();
  }

  @Override
  public void reply(ConnectReply reply) {
    agent.lockedThenWake(
        () -> {
          expect("reply", State.REQ_RCVD);
          Rep rep = Requests.toRep(reply, localId, remoteId(), agent.nodeGuid());
          byte[] mad = encoded(rep);
          qpNumber = reply.qpNumber();
          state(State.REP_SENT);
          // The asker chooses how often it is repeated, and not how long it is waited for.
          repeat(mad, interval, retries, () -> {});
          giveUpAfter(Timeouts.CONFIRMATION, this::unanswered);
        });
  }

  /** Refuses it for the application, which has not heard of it. */
  void refuse(int reason) {
    sendRej(encoded(rej(reason, PrivateData.EMPTY, PrivateData.EMPTY)));
  }

  private void unanswered() {
    String tried = repetition().orElseThrow().describe("a reply (REP)");
    report(events -> events.unreachable(tried));
    sendTimeout();
  }

  @Override
  public void firstPacket() {
    agent.lockedThenWake(
        () -> {
          expect("firstPacket", State.REP_SENT, State.ESTABLISHED);
          if (state() == State.REP_SENT) {
            established();
          }
        });
  }

  @Override
  public void confirm(PrivateData privateData) {
    throw new VerbsException(Errno.EINVAL, "confirm is for the active end of a connection");
  }

  @Override
  void receivedRtu(Rtu rtu) {
    if (state() == State.REP_SENT) {
      established();
    }
  }

  @Override
  void receivedDuplicateReq() {
    switch (state()) {
      case REQ_RCVD ->
          send(
              encoded(
                  new Mra(
                      localId, remoteId(), Reason.OF_REQ, Timeouts.SERVICE, PrivateData.EMPTY)));
      case REP_SENT -> repetition().ifPresent(Repetition::resend);
      case REQ_SENT, REP_RCVD, ESTABLISHED, DREQ_SENT, DREQ_RCVD, TIMEWAIT, IDLE -> {}
    }
  }

  @Override
  void receivedRep(Rep rep) {}

  @Override
  void receivedMra(int message, int serviceTimeout) {
    if (state() == State.REP_SENT && message == Reason.OF_REP) {
      long wait = Timeouts.service(serviceTimeout, ackTimeout());
      if (repetition().orElseThrow().postpone(wait)) {
        giveUpAfter(wait + Timeouts.CONFIRMATION, this::unanswered);
      }
    }
  }

  @Override
  int qpNumber() {
    return qpNumber;
  }

  @Override
  long dreqInterval() {
    return interval;
  }

  @Override
  int dreqRetries() {
    return retries;
  }
}

package org.hghca.cm.ib;

import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Mra;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Rtu;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The end that asks: REQ, then RTU. */
final class ActiveHandshake extends IbHandshake {
  private final ConnectRequest request;

  /** The RTU, for a peer that has not got it. */
  private Optional<byte[]> confirmation = Optional.empty();

  ActiveHandshake(
      MadAgent agent,
      Handshakes handshakes,
      long transaction,
      ConnectRequest request,
      HandshakeEvents events) {
    super(
        agent,
        handshakes,
        request.path(),
        request.ackTimeout(),
        State.REQ_SENT,
        transaction,
        Optional.of(events));
    this.request = request;
  }

  void begin() {
    byte[] req =
        agent.encoded(
            () -> new Mad(transaction, Requests.toReq(request, localId, agent.nodeGuid())));
    handshakes.add(this);
    repeat(req, Timeouts.request(path.packetLife()), Timeouts.RETRIES, this::unanswered);
  }

  private void unanswered() {
    String tried = repetition().orElseThrow().describe("a connection request (REQ)");
    report(events -> events.unreachable(tried));
    sendTimeout();
  }

  @Override
  void receivedRep(Rep rep) {
    switch (state()) {
      case REQ_SENT -> {
        RemoteEnd qp = new RemoteEnd(peer(), rep.caGuid(), rep.qpNumber());
        handshakes.withQp(qp).ifPresent(IbHandshake::becameStale);
        stopRepeating();
        remote(rep.localId(), qp);
        handshakes.hasQp(this, qp);
        state(State.REP_RCVD);
        ConnectReply reply = Requests.toReply(rep, path);
        report(events -> events.replied(reply));
      }
      case REP_RCVD -> {
        if (rep.localId() == remoteId()) {
          send(
              encoded(
                  new Mra(
                      localId, remoteId(), Reason.OF_REP, Timeouts.SERVICE, PrivateData.EMPTY)));
        }
      }
      case ESTABLISHED -> {
        if (rep.localId() == remoteId()) {
          confirmation.ifPresent(this::send);
        }
      }
      case REQ_RCVD, REP_SENT, DREQ_SENT, DREQ_RCVD, TIMEWAIT, IDLE -> {}
    }
  }

  @Override
  void receivedRtu(Rtu rtu) {}

  @Override
  void receivedDuplicateReq() {}

  @Override
  void receivedMra(int message, int serviceTimeout) {
    if (state() == State.REQ_SENT && message == Reason.OF_REQ) {
      long wait = Timeouts.service(serviceTimeout, ackTimeout());
      repetition().ifPresent(repetition -> repetition.postpone(wait));
    }
  }

  @Override
  public void confirm(PrivateData privateData) {
    agent.lockedThenWake(
        () -> {
          expect("confirm", State.REP_RCVD);
          byte[] rtu = encoded(new Rtu(localId, remoteId(), privateData));
          confirmation = Optional.of(rtu);
          send(rtu);
          established();
        });
  }

  @Override
  public void reply(ConnectReply reply) {
    throw passive("reply");
  }

  @Override
  public void firstPacket() {
    throw passive("firstPacket");
  }

  private static VerbsException passive(String call) {
    return new VerbsException(Errno.EINVAL, call + " is for the passive end of a connection");
  }

  @Override
  int qpNumber() {
    return request.qpNumber();
  }

  @Override
  long dreqInterval() {
    return Timeouts.nanos(Timeouts.RESPONSE);
  }

  @Override
  int dreqRetries() {
    return Timeouts.RETRIES;
  }
}

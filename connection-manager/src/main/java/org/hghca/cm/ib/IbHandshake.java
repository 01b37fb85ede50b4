package org.hghca.cm.ib;

import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.mad.Drep;
import org.hghca.cm.mad.Dreq;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Message;
import org.hghca.cm.mad.Rej;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Rtu;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;

/**
 * One end of a connection: what the active and the passive one have in common, its disconnection,
 * rejection and repetition of messages. All but the methods of {@link Handshake} are called under
 * the agent's lock.
 */
abstract class IbHandshake implements Handshake {

  /** Where a connection is; the names are those of the specification. */
  enum State {
    REQ_SENT,
    REP_RCVD,
    REQ_RCVD,
    REP_SENT,
    ESTABLISHED,
    DREQ_SENT,
    DREQ_RCVD,
    TIMEWAIT,
    IDLE
  }

  final MadAgent agent;
  final Handshakes handshakes;
  final int localId;
  final Path path;

  /** That of the REQ. */
  final long transaction;

  private final int ackTimeout;
  private State state;
  private Optional<HandshakeEvents> events;
  private Optional<Repetition> repetition = Optional.empty();
  private Optional<Timers.Timer> timeWait = Optional.empty();
  private Optional<Timers.Timer> limit = Optional.empty();
  private Optional<RemoteEnd> remoteRequest = Optional.empty();
  private Optional<RemoteEnd> remoteQp = Optional.empty();
  private int remoteId;

  /** The transaction of the peer's DREQ, which its answer has. */
  private long dreqTransaction;

  /** Private data of the DREP. */
  private PrivateData drepData = PrivateData.EMPTY;

  /** Whether the application has been told of the end. */
  private boolean left;

  /** Whether the application has closed it: no event reaches it any more. */
  private boolean closed;

  IbHandshake(
      MadAgent agent,
      Handshakes handshakes,
      Path path,
      int ackTimeout,
      State state,
      long transaction,
      Optional<HandshakeEvents> events) {
    this.agent = agent;
    this.handshakes = handshakes;
    this.localId = handshakes.newId();
    this.path = path;
    this.ackTimeout = ackTimeout;
    this.state = state;
    this.transaction = transaction;
    this.events = events;
  }

  /** The number of the queue pair of this end. */
  abstract int qpNumber();

  /** The time until this end repeats DREQ. */
  abstract long dreqInterval();

  abstract int dreqRetries();

  // What the messages of the peer do.

  abstract void receivedRep(Rep rep);

  abstract void receivedRtu(Rtu rtu);

  /** The peer asks for more time. */
  abstract void receivedMra(int message, int serviceTimeout);

  /** The peer has sent its REQ again. */
  abstract void receivedDuplicateReq();

  final void receivedRej(Rej rej) {
    switch (state) {
      case REQ_SENT, REP_SENT, REQ_RCVD -> {
        report(events -> events.rejected(rej.reason(), rej.privateData()));
        if (rej.reason() == Reason.STALE && state != State.REQ_RCVD) {
          enterTimeWait();
        } else {
          forget();
        }
      }
      case REP_RCVD, ESTABLISHED -> {
        report(events -> events.rejected(rej.reason(), rej.privateData()));
        enterTimeWait();
      }
      case DREQ_SENT -> {
        disconnected(PrivateData.EMPTY);
        enterTimeWait();
      }
      case DREQ_RCVD, TIMEWAIT, IDLE -> {}
    }
  }

  final void receivedDreq(long dreqTransaction, Dreq dreq) {
    if (dreq.remoteQpNumber() != qpNumber()) {
      return;
    }
    switch (state) {
      case REP_SENT, ESTABLISHED -> {
        this.dreqTransaction = dreqTransaction;
        if (state == State.REP_SENT) {
          established(); // the peer has confirmed it, and the RTU was lost
        }
        disconnected(dreq.privateData());
        stopRepeating();
        state(State.DREQ_RCVD);
        if (closed) {
          answerDreq();
        }
      }
      case DREQ_SENT -> {
        // Both want the end: no application is asked.
        this.dreqTransaction = dreqTransaction;
        disconnected(dreq.privateData());
        answerDreq();
      }
      case TIMEWAIT -> sendDrep(dreqTransaction);
      case REQ_SENT, REP_RCVD, REQ_RCVD, DREQ_RCVD, IDLE -> {}
    }
  }

  final void receivedDrep(Drep drep) {
    if (state == State.DREQ_SENT) {
      disconnected(drep.privateData());
      enterTimeWait();
    }
  }

  /**
   * The peer has begun anew with the same queue pair: it knows nothing of this connection. The
   * application does not wait for an answer that may never come, nor does the peer for its number.
   */
  final void becameStale() {
    handshakes.hasNoQp(this);
    switch (state) {
      case ESTABLISHED -> {
        sendDreq(PrivateData.EMPTY);
        disconnected(PrivateData.EMPTY);
      }
      case DREQ_SENT -> disconnected(PrivateData.EMPTY);
      case REQ_RCVD, REP_SENT, REP_RCVD -> {
        report(events -> events.rejected(Reason.STALE, PrivateData.EMPTY));
        forget();
      }
      case REQ_SENT, DREQ_RCVD, TIMEWAIT, IDLE -> {}
    }
  }

  /** No datagram reaches the peer. */
  final void unsendable(String why) {
    if (state == State.REQ_SENT) {
      report(events -> events.unreachable(why));
      forget();
    }
  }

  /** No datagram reaches any peer any more. */
  final void fail(VerbsException cause) {
    switch (state) {
      case REQ_SENT, REP_RCVD, REQ_RCVD, REP_SENT -> {
        report(events -> events.failed(cause));
        forget();
      }
      case ESTABLISHED, DREQ_SENT, DREQ_RCVD -> {
        report(events -> events.failed(cause));
        exitTimeWait();
      }
      case TIMEWAIT -> exitTimeWait();
      case IDLE -> {}
    }
  }

  // What the application does.

  @Override
  public final void reject(int reason, PrivateData privateData) {
    agent.lockedThenWake(
        () -> {
          expect("reject", State.REQ_RCVD, State.REP_RCVD, State.REP_SENT);
          sendRej(encoded(rej(reason, PrivateData.EMPTY, privateData)));
        });
  }

  final void sendRej(byte[] rej) {
    send(rej);
    if (state == State.REQ_SENT || state == State.REQ_RCVD) {
      forget();
    } else {
      enterTimeWait();
    }
  }

  final Rej rej(int reason, PrivateData information, PrivateData privateData) {
    int message =
        switch (state) {
          case REQ_RCVD -> Reason.OF_REQ;
          case REP_RCVD -> Reason.OF_REP;
          default -> Reason.OF_NONE;
        };
    return new Rej(localId, remoteId, message, reason, information, privateData);
  }

  /** Tells the peer that it has not answered in time. */
  final void sendTimeout() {
    sendRej(encoded(rej(Reason.TIMEOUT, agent.guid(), PrivateData.EMPTY)));
  }

  @Override
  public final void disconnect(PrivateData privateData) {
    agent.lockedThenWake(
        () -> {
          expect("disconnect", State.ESTABLISHED, State.DREQ_RCVD);
          if (state == State.ESTABLISHED) {
            sendDreq(privateData);
          } else {
            encoded(new Drep(localId, remoteId, privateData));
            drepData = privateData;
            answerDreq();
          }
        });
  }

  @Override
  public final void close() {
    agent.lockedThenWake(
        () -> {
          if (!closed) {
            closed = true;
            end();
          }
        });
  }

  /** Ends what is not at its end, as the state requires. */
  final void end() {
    switch (state) {
      case REQ_SENT -> sendTimeout();
      case REQ_RCVD, REP_RCVD, REP_SENT ->
          sendRej(encoded(rej(Reason.CONSUMER, PrivateData.EMPTY, PrivateData.EMPTY)));
      case ESTABLISHED -> sendDreq(PrivateData.EMPTY);
      case DREQ_RCVD -> answerDreq();
      case DREQ_SENT, TIMEWAIT -> handshakes.addEnding(this);
      case IDLE -> {}
    }
  }

  private void sendDreq(PrivateData privateData) {
    Dreq dreq = new Dreq(localId, remoteId, remoteQp.orElseThrow().number(), privateData);
    byte[] mad = agent.encoded(new Mad(agent.newTransaction(), dreq));
    state(State.DREQ_SENT);
    repeat(mad, dreqInterval(), dreqRetries(), this::dreqUnanswered);
    if (closed) {
      handshakes.addEnding(this);
    }
  }

  private void dreqUnanswered() {
    disconnected(PrivateData.EMPTY);
    enterTimeWait();
  }

  /** Tells the application of the end, once. */
  private void disconnected(PrivateData privateData) {
    if (!left) {
      left = true;
      report(events -> events.disconnected(privateData));
    }
  }

  private void answerDreq() {
    sendDrep(dreqTransaction);
    enterTimeWait();
  }

  private void sendDrep(long dreqTransaction) {
    Drep drep = new Drep(localId, remoteId, drepData);
    send(agent.encoded(new Mad(dreqTransaction, drep)));
  }

  // The course of it.

  final void expect(String call, State... states) {
    agent.checkAlive();
    for (State expected : states) {
      if (state == expected && !closed) {
        return;
      }
    }
    throw new VerbsException(
        Errno.EINVAL,
        "%s is possible in %s, and the connection is %s"
            .formatted(call, String.join(", ", names(states)), closed ? "closed" : "in " + state));
  }

  private static String[] names(State... states) {
    String[] names = new String[states.length];
    for (int i = 0; i < states.length; i++) {
      names[i] = states[i].name();
    }
    return names;
  }

  final State state() {
    return state;
  }

  final void state(State next) {
    handshakes.changes(this, state, next);
    state = next;
  }

  final void established() {
    stopRepeating();
    state(State.ESTABLISHED);
    report(HandshakeEvents::established);
  }

  /** The end of all but the wait for packets under way. */
  final void enterTimeWait() {
    stopRepeating();
    handshakes.hasNoQp(this);
    state(State.TIMEWAIT);
    handshakes.addEnding(this);
    timeWait = Optional.of(agent.after(Timeouts.timeWait(ackTimeout), this::exitTimeWait));
  }

  /** Ends the time wait, early where there are too many. */
  final void exitTimeWait() {
    if (state != State.IDLE) {
      report(HandshakeEvents::timeWaitExited);
      forget();
    }
  }

  /** Nothing of it stays. */
  final void forget() {
    stopRepeating();
    timeWait.ifPresent(agent::cancel);
    state(State.IDLE);
    handshakes.remove(this);
  }

  final void repeat(byte[] mad, long interval, int retries, Runnable givenUp) {
    stopRepeating();
    repetition =
        Optional.of(Repetition.begin(agent, mad, path.vector(), interval, retries, givenUp));
  }

  final Optional<Repetition> repetition() {
    return repetition;
  }

  /** Gives up what is repeated at a time, however often it may be sent still. */
  final void giveUpAfter(long nanos, Runnable givenUp) {
    limit.ifPresent(agent::cancel);
    limit = Optional.of(agent.after(nanos, givenUp));
  }

  /** Repeats no message any more: it has its answer, or none is wanted. */
  final void stopRepeating() {
    limit.ifPresent(agent::cancel);
    limit = Optional.empty();
    repetition.ifPresent(Repetition::end);
    repetition = Optional.empty();
  }

  final void send(byte[] mad) {
    agent.send(mad, path.vector());
  }

  /** A message of the transaction of the REQ. */
  final byte[] encoded(Message message) {
    return agent.encoded(new Mad(transaction, message));
  }

  final void report(Consumer<HandshakeEvents> event) {
    agent.deliver(() -> !closed, () -> events.ifPresent(event));
  }

  final void events(HandshakeEvents to) {
    events = Optional.of(to);
  }

  final int ackTimeout() {
    return ackTimeout;
  }

  final int remoteId() {
    return remoteId;
  }

  /** The peer is known now. */
  final void remote(int id, RemoteEnd qp) {
    remoteId = id;
    remoteQp = Optional.of(qp);
  }

  final void remoteRequest(RemoteEnd request) {
    remoteRequest = Optional.of(request);
  }

  final Optional<RemoteEnd> remoteRequest() {
    return remoteRequest;
  }

  final Optional<RemoteEnd> remoteQp() {
    return remoteQp;
  }

  /** The address of the peer. */
  final Gid peer() {
    return path.destination();
  }

  /** Whether a GID is that of the peer. */
  final boolean isWith(Gid gid) {
    return peer().equals(gid);
  }
}

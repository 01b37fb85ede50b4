package org.hghca.cm;

import java.util.Optional;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of an identifier: what was asked and answered, and what becomes of it. All under
 * the monitor of the identifier.
 */
final class Connection implements HandshakeEvents, End {
  static final int MAX_REQUEST_DATA = 56;
  static final int MAX_REPLY_DATA = 196;
  private static final int MAX_REJECT_DATA = 148;

  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

  private final CmId id;
  private final ConnectRequest request;
  private final boolean active;
  private final CarrierKind kind;
  private Handshake handshake;
  private Optional<ConnectReply> reply = Optional.empty();

  private Connection(CmId id, ConnectRequest request, boolean active, CarrierKind kind) {
    this.kind = kind;
    this.id = id;
    this.request = request;
    this.active = active;
  }

  /** The active end; asks. */
  static Connection ask(CmId id, CarrierKind kind, Carrier carrier, ConnectRequest request) {
    Connection connection = new Connection(id, request, true, kind);
    connection.handshake = carrier.connect(request, connection);
    return connection;
  }

  /** The passive end. */
  static Connection asked(CmId id, CarrierKind kind, Handshake handshake, ConnectRequest request) {
    Connection connection = new Connection(id, request, false, kind);
    connection.handshake = handshake;
    return connection;
  }

  ConnectRequest request() {
    return request;
  }

  /** What the peer asks of this end, which it sees the other way round. */
  ConnectionParameters asked() {
    return ConnectionParameters.DEFAULT
        .withPrivateData(request.privateData())
        .withResponderResources(request.initiatorDepth())
        .withInitiatorDepth(request.responderResources())
        .withFlowControl(request.flowControl())
        .withRetryCount(request.retryCount())
        .withRnrRetryCount(request.rnrRetry())
        .withQueuePair(request.qpNumber(), request.sharedReceiveQueue());
  }

  private static ConnectionParameters answered(ConnectReply reply) {
    return ConnectionParameters.DEFAULT
        .withPrivateData(reply.privateData())
        .withResponderResources(reply.initiatorDepth())
        .withInitiatorDepth(reply.responderResources())
        .withFlowControl(reply.flowControl())
        .withRnrRetryCount(reply.rnrRetry())
        .withQueuePair(reply.qpNumber(), reply.sharedReceiveQueue());
  }

  /**
   * How to set up the queue pair.
   *
   * @throws VerbsException EINVAL before the passive end has answered
   */
  QpSetup setup(Context context) {
    ConnectReply known =
        reply.orElseThrow(
            () -> new VerbsException(Errno.EINVAL, "the connection has no answer yet"));
    return active
        ? QpSetup.active(context, request, known)
        : QpSetup.passive(context, request, known);
  }

  /** Answers, at the passive end, with a queue pair that {@code ready} brings to RTS before. */
  void accept(ConnectReply answer, Runnable ready) {
    reply = Optional.of(answer);
    ready.run();
    handshake.reply(answer);
  }

  /** What the passive end would answer with, to set up a queue pair before it accepts. */
  void prepare(ConnectReply answer) {
    reply = Optional.of(answer);
  }

  @Override
  public void reject(PrivateData data) {
    CmId.requireFits(data, MAX_REJECT_DATA);
    handshake.reject(Refusals.CONSUMER, data);
  }

  void confirm() {
    handshake.confirm(PrivateData.EMPTY);
  }

  void firstPacket() {
    handshake.firstPacket();
  }

  /** Ends it, unless it has ended, of which an event tells. */
  void disconnect() {
    try {
      handshake.disconnect(PrivateData.EMPTY);
    } catch (VerbsException e) {
      LOG.debug("{}: it has ended", id, e);
    }
  }

  /** Brings a queue pair from INIT to RTS. */
  void bringUp(QueuePair queuePair) {
    QpSetup setup = setup(queuePair.protectionDomain().context());
    queuePair.modify(setup.rtr());
    queuePair.modify(setup.rts());
  }

  @Override
  public void replied(ConnectReply answer) {
    synchronized (id) {
      if (id.moves(CmState.CONNECTING, CmState.RESPONDED)) {
        reply = Optional.of(answer);
        id.post(CmEvent.of(id, CmEventType.CONNECT_RESPONSE).with(answered(answer)));
      }
    }
  }

  @Override
  public void established() {
    synchronized (id) {
      if (id.moves(CmState.ACCEPTING, CmState.CONNECTED)) {
        id.post(CmEvent.of(id, CmEventType.ESTABLISHED));
      }
    }
  }

  @Override
  public void rejected(int reason, PrivateData privateData) {
    synchronized (id) {
      ConnectionParameters parameters = ConnectionParameters.DEFAULT.withPrivateData(privateData);
      if (id.fails()) {
        String said = Refusals.reason(reason);
        String message = "%s by %s: %s".formatted(request.remote(), kind, said);
        id.post(CmEvent.failure(id, CmEventType.REJECTED, reason, message).with(parameters));
      } else if (id.isTakenBack()) {
        id.post(CmEvent.of(id, CmEventType.DISCONNECTED).with(parameters));
      }
    }
  }

  @Override
  public void unreachable(String tried) {
    synchronized (id) {
      if (id.fails()) {
        id.post(
            CmEvent.failure(
                id, CmEventType.UNREACHABLE, -Errno.ETIMEDOUT.number(), kind.unreachable(tried)));
      }
    }
  }

  @Override
  public void disconnected(PrivateData privateData) {
    synchronized (id) {
      if (id.moves(CmState.CONNECTED, CmState.LEFT_BY_PEER)
          || id.moves(CmState.ACCEPTING, CmState.LEFT_BY_PEER)
          || id.moves(CmState.DISCONNECTING, CmState.DISCONNECTED)) {
        id.post(
            CmEvent.of(id, CmEventType.DISCONNECTED)
                .with(ConnectionParameters.DEFAULT.withPrivateData(privateData)));
      }
    }
  }

  @Override
  public void failed(VerbsException cause) {
    synchronized (id) {
      int status = -cause.errno().number();
      if (id.fails()) {
        id.post(CmEvent.failure(id, CmEventType.UNREACHABLE, status, cause.getMessage()));
      } else if (id.moves(CmState.CONNECTED, CmState.LEFT_BY_PEER)
          || id.moves(CmState.DISCONNECTING, CmState.DISCONNECTED)) {
        id.post(CmEvent.failure(id, CmEventType.DISCONNECTED, status, cause.getMessage()));
      }
    }
  }

  @Override
  public void timeWaitExited() {
    id.post(CmEvent.of(id, CmEventType.TIMEWAIT_EXIT));
  }

  @Override
  public void close() {
    handshake.close();
  }
}

package org.hghca.cm;

import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Refusals;
import org.hghca.cm.device.SharedDevice;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The connection of an identifier: what was asked and answered, and what becomes of it. All under
 * the monitor of the {@link Lifecycle}.
 */
final class ConnectionEnd implements HandshakeEvents, End {
  private static final ConditionLog LOG = ConditionLog.of(ConnectionEnd.class);

  /** Of one that has failed before its response was taken, if nothing says why. */
  private static final Report FAILED =
      Report.failure(
          CmEventType.CONNECT_ERROR,
          -Errno.EIO.number(),
          "the connection failed before its response was taken");

  private final Lifecycle life;
  private final IdQueuePair queuePair;
  private final CarrierKind kind;
  private final ConnectRequest request;
  private final boolean active;
  private Handshake handshake;
  private Optional<ConnectReply> reply = Optional.empty();

  private ConnectionEnd(
      Lifecycle life,
      IdQueuePair queuePair,
      CarrierKind kind,
      ConnectRequest request,
      boolean active) {
    this.life = life;
    this.queuePair = queuePair;
    this.kind = kind;
    this.request = request;
    this.active = active;
  }

  /** The active end; asks. */
  static ConnectionEnd ask(
      Lifecycle life,
      IdQueuePair queuePair,
      Addressing addressing,
      ConnectionParameters parameters) {
    SharedDevice device = addressing.device();
    ConnectRequest request =
        Negotiation.request(
            device.context().queryDevice(), addressing.route(), queuePair.get(), parameters);
    ConnectionEnd connection =
        new ConnectionEnd(life, queuePair, addressing.kind(device), request, true);
    synchronized (life) {
      connection.handshake = addressing.carrier(device).connect(request, connection);
      life.to(CmState.CONNECTING);
    }
    return connection;
  }

  /** The passive end. */
  static ConnectionEnd passive(
      Lifecycle life,
      IdQueuePair queuePair,
      CarrierKind kind,
      Handshake handshake,
      ConnectRequest request) {
    ConnectionEnd connection = new ConnectionEnd(life, queuePair, kind, request, false);
    connection.handshake = handshake;
    return connection;
  }

  /** What the peer's request asks of this end, which sees it the other way round. */
  ConnectionParameters peerParameters() {
    return ConnectionParameters.DEFAULT
        .withPrivateData(request.privateData())
        .withResponderResources(request.initiatorDepth())
        .withInitiatorDepth(request.responderResources())
        .withFlowControl(request.flowControl())
        .withRetryCount(request.retryCount())
        .withRnrRetryCount(request.rnrRetry())
        .withQueuePair(request.qpNumber(), request.sharedReceiveQueue())
        .withWrapMemory(request.wrapMemory());
  }

  private static ConnectionParameters answered(ConnectReply reply) {
    return ConnectionParameters.DEFAULT
        .withPrivateData(reply.privateData())
        .withResponderResources(reply.initiatorDepth())
        .withInitiatorDepth(reply.responderResources())
        .withFlowControl(reply.flowControl())
        .withRnrRetryCount(reply.rnrRetry())
        .withQueuePair(reply.qpNumber(), reply.sharedReceiveQueue())
        .withWrapMemory(reply.wrapMemory());
  }

  /**
   * How to set up the queue pair. The passive end may ask before it answers: then as for an answer
   * with {@link ConnectionParameters#DEFAULT}, whose starting PSN the real answer keeps.
   *
   * @throws VerbsException EINVAL before the active end has an answer
   */
  QpSetup setup(Context context) {
    if (!active && reply.isEmpty()) {
      reply = Optional.of(answer(context.queryDevice(), ConnectionParameters.DEFAULT));
    }
    ConnectReply known =
        reply.orElseThrow(
            () -> new VerbsException(Errno.EINVAL, "the connection has no answer yet"));
    return active
        ? QpSetup.active(context, request, known)
        : QpSetup.passive(context, request, known);
  }

  private ConnectReply answer(DeviceAttributes device, ConnectionParameters parameters) {
    int psn = reply.map(ConnectReply::startingPsn).orElseGet(() -> Negotiation.psn(device));
    return Negotiation.reply(device, request, queuePair.get(), parameters, psn);
  }

  /** Brings the queue pair, if there is one, to RTS, and answers. */
  @Override
  public void accept(Context context, ConnectionParameters parameters) {
    ConnectReply answer = answer(context.queryDevice(), parameters);
    life.to(CmState.ACCEPTING);
    try {
      reply = Optional.of(answer);
      bringUp();
      handshake.reply(answer);
    } catch (VerbsException e) {
      life.to(CmState.REQUESTED);
      throw e;
    }
  }

  @Override
  public void reject(PrivateData data) {
    Negotiation.requireFits(data, Negotiation.MAX_REJECT_DATA);
    handshake.reject(Refusals.CONSUMER, data);
    life.to(CmState.FAILED);
    queuePair.toError();
  }

  /** Confirms the answer, after the program has brought its own queue pair to RTS. */
  void establish() {
    handshake.confirm(PrivateData.EMPTY);
    life.to(CmState.CONNECTED);
  }

  void firstPacket() {
    handshake.firstPacket();
  }

  /** Ends it, unless it has ended, of which an event tells. */
  void disconnect() {
    queuePair.toError();
    try {
      handshake.disconnect(PrivateData.EMPTY);
    } catch (VerbsException e) {
      LOG.debug(About.peer(request.remote()), "the connection has ended", e);
    }
    if (!life.moves(CmState.CONNECTED, CmState.DISCONNECTING)) {
      life.to(CmState.DISCONNECTED);
    }
  }

  private void bringUp() {
    queuePair.get().ifPresent(pair -> queuePair.bringUp(setup(pair.protectionDomain().context())));
  }

  /**
   * The answer is taken by the program: brings up the queue pair, and confirms.
   *
   * @param untaken removes the first report that was not taken
   * @return what the program learns
   */
  Report onTaken(Report response, Supplier<Optional<Report>> untaken) {
    if (queuePair.get().isEmpty()) {
      return response;
    }
    if (life.state() == CmState.FAILED) {
      queuePair.toError();
      return untaken.get().orElse(FAILED);
    }
    Report established = response.as(CmEventType.ESTABLISHED);
    if (life.state() != CmState.RESPONDED) {
      return established; // taken before, and put back
    }
    try {
      bringUp();
      establish();
    } catch (VerbsException e) {
      life.to(CmState.FAILED);
      handshake.close();
      queuePair.toError();
      throw e;
    }
    return established;
  }

  @Override
  public void replied(ConnectReply answer) {
    synchronized (life) {
      if (life.moves(CmState.CONNECTING, CmState.RESPONDED)) {
        reply = Optional.of(answer);
        life.post(Report.of(CmEventType.CONNECT_RESPONSE).with(answered(answer)));
      }
    }
  }

  @Override
  public void established() {
    synchronized (life) {
      if (life.moves(CmState.ACCEPTING, CmState.CONNECTED)) {
        life.post(Report.of(CmEventType.ESTABLISHED));
      }
    }
  }

  @Override
  public void rejected(int reason, PrivateData privateData) {
    synchronized (life) {
      ConnectionParameters parameters = ConnectionParameters.DEFAULT.withPrivateData(privateData);
      String message = "%s by %s: %s".formatted(request.remote(), kind, Refusals.reason(reason));
      if (life.fails(Report.failure(CmEventType.REJECTED, reason, message).with(parameters))) {
        return;
      }
      if (life.moves(CmState.CONNECTED, CmState.DISCONNECTED)) {
        queuePair.toError();
        life.post(Report.of(CmEventType.DISCONNECTED).with(parameters));
      }
    }
  }

  @Override
  public void unreachable(String tried) {
    life.unreachable(kind.unreachable(tried));
  }

  @Override
  public void disconnected(PrivateData privateData) {
    synchronized (life) {
      if (life.moves(CmState.CONNECTED, CmState.LEFT_BY_PEER)
          || life.moves(CmState.ACCEPTING, CmState.LEFT_BY_PEER)
          || life.moves(CmState.DISCONNECTING, CmState.DISCONNECTED)) {
        life.post(
            Report.of(CmEventType.DISCONNECTED)
                .with(ConnectionParameters.DEFAULT.withPrivateData(privateData)));
      }
    }
  }

  @Override
  public void failed(VerbsException cause) {
    synchronized (life) {
      boolean failed = life.fails(Report.failure(CmEventType.UNREACHABLE, cause));
      if (!failed && life.moves(CmState.CONNECTED, CmState.LEFT_BY_PEER)
          || life.moves(CmState.DISCONNECTING, CmState.DISCONNECTED)) {
        life.post(Report.failure(CmEventType.DISCONNECTED, cause));
      }
    }
  }

  @Override
  public void timeWaitExited() {
    life.post(Report.of(CmEventType.TIMEWAIT_EXIT));
  }

  @Override
  public void close() {
    handshake.close();
  }
}

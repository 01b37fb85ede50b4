package org.hghca.verbs;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A queue pair: {@code ibv_qp}. Thread-safe, unless it was created for a single owner. Closing is
 * idempotent; outstanding requests generate no completions any more.
 *
 * <p>A full queue is not an error: {@code tryPost} returns false, {@code post} throws ENOMEM. Every
 * other reason not to post a request is an error of the program and throws {@link
 * BadRequestException}: EINVAL in a state that does not take requests, for too many elements or too
 * much inline data; EOPNOTSUPP for an operation that the device or the type lacks; EIO after a
 * fatal error of the device.
 */
public interface QueuePair extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The queue pair number, 24 bits. */
  int number();

  QpType type();

  /** The state, as known without a query of the device. */
  QpState state();

  /** Whether it was closed: then {@link #modify} fails with EINVAL. */
  boolean isClosed();

  QueuePairCapabilities capabilities();

  CompletionQueue sendCompletionQueue();

  CompletionQueue receiveCompletionQueue();

  /** The source of its receive requests, when it has none of its own. */
  Optional<SharedReceiveQueue> sharedReceiveQueue();

  /**
   * {@code ibv_modify_qp}. On failure the queue pair is unchanged.
   *
   * @throws VerbsException EINVAL when the transition does not exist, an attribute that it requires
   *     is missing, or one is set that the transition does not allow
   */
  void modify(QpAttributes attributes);

  /** {@code ibv_query_qp}: all attributes, as last set, and the state that the device is in. */
  QpAttributes query();

  /**
   * The number of the queue pair of the general services on every port, as destination of
   * management datagrams: {@link QueuePairConfig#gsi}.
   */
  int GSI_NUMBER = 1;

  /** The Q_Key of management datagrams, and of the queue pairs of the general services. */
  int GSI_QKEY = 0x8001_0000;

  /**
   * The number that stands for all queue pairs of a multicast group, as destination of datagrams to
   * the group's GID.
   */
  int MULTICAST_NUMBER = 0xff_ffff;

  /**
   * Takes part in a multicast group: {@code ibv_attach_mcast}, and the join that the network needs.
   * From then on the queue pair gets a copy of each datagram that is sent to {@link
   * #MULTICAST_NUMBER} at the group's GID with its Q_Key, those that it sends itself among them, if
   * it has a receive posted; the first 40 bytes are the global route header, whose destination is
   * the group. Nothing changes if it takes part already. Its state does not matter, and is kept.
   *
   * @param group of an IPv4 or IPv6 address: {@code Gid.ofIpv4(0xef01_0203)} is 239.1.2.3
   * @throws VerbsException EOPNOTSUPP when the device lacks {@link DeviceFeature#MULTICAST}, or
   *     groups of this kind of address; EINVAL for a queue pair that is not UD or is that of the
   *     general services, or a GID of no group; ENOMEM when a limit of the device is exceeded,
   *     naming it; EIO when the network does not let the device take part
   */
  default void attachMulticast(Gid group) {
    throw new VerbsException(Errno.EOPNOTSUPP, "this device has no multicast groups");
  }

  /**
   * Takes part in a multicast group no longer: {@code ibv_detach_mcast}. A queue pair that takes
   * part in a group cannot be closed.
   *
   * @throws VerbsException EOPNOTSUPP when the device lacks {@link DeviceFeature#MULTICAST}; EINVAL
   *     when the queue pair does not take part in the group
   */
  default void detachMulticast(Gid group) {
    throw new VerbsException(Errno.EOPNOTSUPP, "this device has no multicast groups");
  }

  /**
   * Posts a send request: {@code ibv_post_send}.
   *
   * @return false when the send queue is full
   */
  boolean tryPostSend(SendRequest request);

  /**
   * Posts send requests in order with one doorbell, while there is room.
   *
   * @return how many were posted
   * @throws IndexOutOfBoundsException when the range is not within the list; nothing is posted
   */
  int tryPostSend(SendRequest[] requests, int from, int count);

  /**
   * Posts a receive request: {@code ibv_post_recv}.
   *
   * @return false when the receive queue is full
   */
  boolean tryPostReceive(ReceiveRequest request);

  /**
   * Posts receive requests in order, while there is room.
   *
   * @return how many were posted
   * @throws IndexOutOfBoundsException when the range is not within the list; nothing is posted
   */
  int tryPostReceive(ReceiveRequest[] requests, int from, int count);

  /**
   * Posts a send request.
   *
   * @throws BadRequestException ENOMEM when the send queue is full
   */
  default void postSend(SendRequest request) {
    if (!tryPostSend(request)) {
      throw full(0, "send queue", capabilities().sendDepth());
    }
  }

  /** Posts a list of send requests in order; ENOMEM at the first that does not fit. */
  default void postSend(SendRequest[] requests) {
    int posted = tryPostSend(requests, 0, requests.length);
    if (posted < requests.length) {
      throw full(posted, "send queue", capabilities().sendDepth());
    }
  }

  /**
   * Posts a receive request.
   *
   * @throws BadRequestException ENOMEM when the receive queue is full
   */
  default void postReceive(ReceiveRequest request) {
    if (!tryPostReceive(request)) {
      throw full(0, "receive queue", capabilities().receiveDepth());
    }
  }

  /** Posts a list of receive requests in order; ENOMEM at the first that does not fit. */
  default void postReceive(ReceiveRequest[] requests) {
    int posted = tryPostReceive(requests, 0, requests.length);
    if (posted < requests.length) {
      throw full(posted, "receive queue", capabilities().receiveDepth());
    }
  }

  /**
   * Writes a send request to the queue and leaves its doorbell for later, so that several requests
   * from different places share one: what {@code ibv_wr_start} and {@code ibv_wr_complete} enclose,
   * except that nothing is locked in between and other threads may post. The request is posted in
   * all other respects: it is checked, copied, keeps its place in the order and counts as
   * outstanding. The device starts it at the latest after {@link #flushSends}, and earlier when
   * another request is posted after it, when it is fenced, or when the queue is full; the device
   * may also start it at any time. If the driver limits doorbells, it rings as many as needed, as
   * for any post.
   *
   * <p>"Flush" is the usual term of frameworks, unrelated to {@link WcStatus#WR_FLUSH_ERR}.
   *
   * @return false when the send queue is full; then the enqueued requests are started, so that
   *     slots become free
   */
  default boolean tryEnqueueSend(SendRequest request) {
    return tryPostSend(request);
  }

  /**
   * As {@link #tryEnqueueSend}.
   *
   * @throws BadRequestException ENOMEM when the send queue is full
   */
  default void enqueueSend(SendRequest request) {
    if (!tryEnqueueSend(request)) {
      throw full(0, "send queue", capabilities().sendDepth());
    }
  }

  /**
   * Starts the enqueued requests on the device; does nothing if there are none.
   *
   * @throws VerbsException EIO when the device is gone
   */
  default void flushSends() {}

  private BadRequestException full(int index, String queue, int depth) {
    return new BadRequestException(
        Errno.ENOMEM,
        index,
        "the %s of QP 0x%06x is full: %d requests are outstanding; poll its completion queue"
            .formatted(queue, number(), depth));
  }

  /**
   * Brings a fresh connected queue pair to RTS with {@link ConnectionOptions#DEFAULT}: goes to
   * INIT, exchanges endpoints with the peer, and goes to RTR and RTS.
   *
   * <p>Exceptions of the exchange are passed on; the queue pair is then in INIT and can be
   * connected again.
   *
   * @param exchange gives our endpoint to the peer and returns the peer's; it may post receives
   *     before it contacts the peer, so that the peer's first message finds one
   * @throws VerbsException EINVAL for a datagram queue pair, which {@link #activate(int)} brings to
   *     RTS
   */
  default <X extends Exception> void connect(EndpointExchange<X> exchange) throws X {
    connect(ConnectionOptions.DEFAULT, exchange);
  }

  /** As {@link #connect(EndpointExchange)}, with options. */
  default <X extends Exception> void connect(
      ConnectionOptions options, EndpointExchange<X> exchange) throws X {
    if (type() == QpType.UD) {
      throw new VerbsException(
          Errno.EINVAL,
          "a UD queue pair has no peer to connect to: activate(qkey) brings it to RTS, and each"
              + " request says where it goes");
    }
    Context context = protectionDomain().context();
    Gid gid = context.queryGid(options.port(), options.gidIndex());
    int psn = firstPsn(context);
    int lid = context.queryPort(options.port()).lid();
    modify(options.toInit(type()));
    QpEndpoint peer = exchange.exchange(new QpEndpoint(lid, number(), psn, gid, offerWrapMemory()));
    peer.wrapMemory().ifPresent(this::takeWrapMemory);
    modify(options.toRtr(type(), peer));
    modify(options.toRts(type(), psn));
  }

  /**
   * Brings a fresh datagram queue pair to RTS over port 1. It has no peer: each request names its
   * destination.
   *
   * @param qkey the Q_Key that peers must send
   * @throws VerbsException EINVAL for another type
   */
  default void activate(int qkey) {
    activate(ConnectionOptions.DEFAULT, qkey);
  }

  /** As {@link #activate(int)}, over the options' port; the other options are ignored. */
  default void activate(ConnectionOptions options, int qkey) {
    if (type() != QpType.UD) {
      throw new VerbsException(
          Errno.EINVAL, "a %s queue pair has a peer: connect it".formatted(type()));
    }
    int psn = firstPsn(protectionDomain().context());
    modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(options.port()).qkey(qkey));
    modify(QpAttributes.to(QpState.RTR));
    modify(options.toRts(QpType.UD, psn));
  }

  /**
   * The memory that this queue pair offers its peer for the peer's PSN wrap. Empty where the device
   * needs none: PSNs wrap, or READs do not take them over the wrap, or the program has switched it
   * off. {@link #connect} exchanges it; who connects in another way sends it to the peer, which
   * takes it with {@link #takeWrapMemory}.
   *
   * @throws VerbsException ENOMEM when the device has no key left
   */
  default Optional<WrapMemory> offerWrapMemory() {
    return Optional.empty();
  }

  /**
   * Takes the memory that the peer offers for the wrap of this queue pair's PSNs. Must be called
   * between RESET and RTS. Where the device needs none, nothing happens.
   *
   * <p>The driver trusts the peer: on a device that needs it ({@link DeviceQuirk#NO_PSN_WRAP}) a
   * READ that the peer refuses stops the card. So take only what a peer's {@link #offerWrapMemory}
   * returned, for a connection to that queue pair.
   *
   * @throws VerbsException EINVAL in another state
   */
  default void takeWrapMemory(WrapMemory ofPeer) {}

  /** A random PSN: any of them, or a low one where PSNs do not wrap. */
  private static int firstPsn(Context context) {
    boolean low = context.queryDevice().has(DeviceQuirk.NO_PSN_WRAP);
    return ThreadLocalRandom.current().nextInt(low ? 1 << 16 : 1 << 24);
  }

  @Override
  void close();
}

package org.hghca.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.Releases;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;

/**
 * A reliable connection by address: a connected queue pair with its completion queues and its
 * protection domain, over one {@link CmId}. Thread-safe; every wait has a time limit and may be on
 * a virtual thread.
 */
public final class RdmaConnection implements AutoCloseable {
  private static final Duration REPORT = Duration.ofSeconds(1);

  /** A completion queue has room for the requests of so many queue pairs like the connection's. */
  private static final int ROOM = 8;

  /** Where that needs more, it gets the usual ring. */
  private static final int MOST_OWN_RING = 4096;

  private final CmId id;
  private final EventChannel channel;
  private final RdmaOptions options;
  private final long deadline;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** What was made for it, last made first; its monitor admits one closer at a time. */
  private final Deque<AutoCloseable> owned = new ConcurrentLinkedDeque<>();

  /** That of {@link #owned}. */
  private Optional<ProtectionDomain> ownDomain = Optional.empty();

  private QueuePair queuePair;
  private byte[] peerData = {};
  private CompletableFuture<?> watch = CompletableFuture.completedFuture(null);
  private boolean ended;

  private RdmaConnection(CmId id, EventChannel channel, RdmaOptions options) {
    this.id = id;
    this.channel = channel;
    this.options = options;
    this.deadline = System.nanoTime() + options.timeout().toNanos();
  }

  /** Connects with {@link RdmaOptions#DEFAULT}. */
  public static RdmaConnection connect(InetSocketAddress remote) throws InterruptedException {
    return connect(remote, RdmaOptions.DEFAULT);
  }

  /**
   * Connects.
   *
   * @throws VerbsException ECONNREFUSED when the peer refuses or has no listener on the port;
   *     ETIMEDOUT when it does not answer in time; ENODEV, ENETUNREACH when no device leads there;
   *     EINVAL, ENOMEM as the queue pair requires
   * @throws InterruptedException when the thread is interrupted; nothing is left open
   */
  public static RdmaConnection connect(InetSocketAddress remote, RdmaOptions options)
      throws InterruptedException {
    EventChannel channel = EventChannel.open(options.devices());
    RdmaConnection connection =
        new RdmaConnection(channel.createId(PortSpace.TCP), channel, options);
    connection.attempt(
        () -> {
          connection.ask(remote);
          connection.watch();
        });
    return connection;
  }

  /** Accepts the request of an identifier. */
  static RdmaConnection accept(CmId requested, RdmaOptions options) throws InterruptedException {
    RdmaConnection connection = answered(requested, options);
    connection.attempt(
        () -> {
          connection.await(CmEventType.ESTABLISHED);
          connection.watch();
        });
    return connection;
  }

  /** Answers the request of an identifier: {@link #confirmed} says when the peer has confirmed. */
  static RdmaConnection answered(CmId requested, RdmaOptions options) throws InterruptedException {
    EventChannel channel = EventChannel.open(options.devices());
    RdmaConnection connection = new RdmaConnection(requested, channel, options);
    connection.attempt(
        () -> {
          requested.migrate(channel);
          connection.makeQueuePair();
          options.prepare().accept(connection);
          connection.answer();
        });
    return connection;
  }

  /** Completes when the peer has confirmed; fails when it does not within the time limit. */
  CompletableFuture<Void> confirmed() {
    return channel
        .next()
        .orTimeout(left().toNanos(), TimeUnit.NANOSECONDS)
        .thenAccept(
            event -> {
              require(event, CmEventType.ESTABLISHED);
              watch();
            });
  }

  /** What leads to a connection, and may wait. */
  private interface Steps {
    void run() throws InterruptedException;
  }

  /** Takes steps; where one fails, nothing stays open. */
  private void attempt(Steps steps) throws InterruptedException {
    try {
      steps.run();
    } catch (InterruptedException | RuntimeException | Error e) {
      try {
        abandon();
      } catch (RuntimeException unclosed) {
        e.addSuppressed(unclosed);
      }
      throw e;
    }
  }

  /** Accepts; where the peer has given up meanwhile, the failure says so, not the state. */
  private void answer() throws InterruptedException {
    try {
      id.accept(options.parameters());
    } catch (VerbsException e) {
      if (id.failure().isEmpty()) {
        // the carrier may know of the end already, and report it in a moment
        channel.await(REPORT).ifPresent(CmEvent::acknowledge);
      }
      VerbsException cause = id.failure().orElse(e);
      if (!cause.equals(e)) {
        cause.addSuppressed(e);
      }
      throw cause;
    }
  }

  private void ask(InetSocketAddress remote) throws InterruptedException {
    options.carrier().ifPresent(id::carrier);
    options.local().ifPresent(id::bind);
    id.resolveAddress(remote, left());
    await(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(options.timeout());
    await(CmEventType.ROUTE_RESOLVED);
    makeQueuePair();
    options.prepare().accept(this);
    id.connect(options.parameters());
    peerData = await(CmEventType.ESTABLISHED).privateData();
  }

  private Duration left() {
    return Duration.ofNanos(Math.max(deadline - System.nanoTime(), 0));
  }

  private CmEvent await(CmEventType wanted) throws InterruptedException {
    CmEvent event =
        channel
            .await(left())
            .orElseThrow(
                () ->
                    new VerbsException(
                        Errno.ETIMEDOUT,
                        "no %s within %d ms: %s"
                            .formatted(wanted.symbol(), options.timeout().toMillis(), id)));
    require(event, wanted);
    return event;
  }

  private static void require(CmEvent event, CmEventType wanted) {
    event.acknowledge();
    if (event.type() != wanted) {
      throw event.failure();
    }
  }

  private void makeQueuePair() {
    if (options.own().isPresent()) {
      RdmaOptions.Own own = options.own().get();
      queuePair = id.createQueuePair(own.domain(), own.config());
      return;
    }
    Context context = id.context();
    CompletionChannel completions = owns(context.createCompletionChannel());
    ProtectionDomain domain = owns(context.allocateProtectionDomain());
    ownDomain = Optional.of(domain);
    CompletionQueue sends = owns(queue(context, options.sendDepth(), completions));
    CompletionQueue receives = owns(queue(context, options.receiveDepth(), completions));
    queuePair =
        id.createQueuePair(
            domain,
            QueuePairConfig.rc(sends, receives)
                .sendDepth(options.sendDepth())
                .receiveDepth(options.receiveDepth())
                .maxInline(options.maxInline()));
  }

  /** The program may attach queue pairs of its own, but a usual ring would only take memory. */
  private static CompletionQueue queue(Context context, int depth, CompletionChannel channel) {
    int ring = ROOM * Integer.highestOneBit(2 * depth - 1);
    CompletionQueueConfig config = CompletionQueueConfig.of(depth).withChannel(channel);
    return context.createCompletionQueue(
        ring > MOST_OWN_RING ? config : config.withRingEntries(ring));
  }

  private <T extends AutoCloseable> T owns(T made) {
    owned.push(made);
    return made;
  }

  /** Takes the events of the connection from now on. */
  private synchronized void watch() {
    if (!ended) {
      CompletableFuture<CmEvent> next = channel.next();
      watch = next;
      var _ = next.thenAccept(this::happened);
    }
  }

  private void happened(CmEvent event) {
    event.acknowledge();
    boolean over =
        event.type() == CmEventType.DISCONNECTED || event.type() == CmEventType.DEVICE_REMOVAL;
    if (over) {
      leave();
    }
    watch();
    if (over) {
      closed.complete(null);
    }
  }

  /** Ends the connection, or confirms that the peer has; the queue pair flushes. */
  private synchronized void leave() {
    if (!ended) {
      id.endConnection();
    }
  }

  public CmId id() {
    return id;
  }

  /** The device. */
  public Context context() {
    return id.context();
  }

  public QueuePair queuePair() {
    return queuePair;
  }

  /** That of the queue pair: with {@link RdmaOptions#withQueuePair} the program's. */
  public ProtectionDomain protectionDomain() {
    return queuePair.protectionDomain();
  }

  /**
   * Where completions of sends come; it reports to {@link #completionChannel}, if armed. It has
   * room for seven more queue pairs of the same depth.
   */
  public CompletionQueue sendCompletionQueue() {
    return queuePair.sendCompletionQueue();
  }

  /**
   * Where completions of receives come; it reports to {@link #completionChannel}, if armed. It has
   * room for seven more queue pairs of the same depth.
   */
  public CompletionQueue receiveCompletionQueue() {
    return queuePair.receiveCompletionQueue();
  }

  /** Of both completion queues; empty with {@link RdmaOptions#withQueuePair}. */
  public Optional<CompletionChannel> completionChannel() {
    return owned.stream()
        .filter(CompletionChannel.class::isInstance)
        .map(CompletionChannel.class::cast)
        .findFirst();
  }

  public InetSocketAddress localAddress() {
    return id.localAddress();
  }

  public InetSocketAddress remoteAddress() {
    return id.remoteAddress();
  }

  /**
   * At the end that connected: the private data with which the peer accepted. Some carriers pad it
   * with zeros.
   */
  public byte[] peerData() {
    return peerData.clone();
  }

  /**
   * Completes when the connection has ended, by either end. The queue pair is in ERR then, and its
   * requests complete as flushed.
   */
  public CompletableFuture<Void> closed() {
    return closed.copy();
  }

  /**
   * Disconnects, and closes what was made for the connection: with memory regions of its protection
   * domain still open it fails with EBUSY after the queue pair is closed; close them, and call it
   * again. Outstanding requests complete no more: wait for the completions that matter before.
   * Idempotent.
   */
  @Override
  public void close() {
    end(new Releases());
  }

  /**
   * Closes what does not become a connection. The program never gets it, so that what {@link
   * RdmaOptions#withPrepare} has made in its own protection domain is closed, too.
   */
  void abandon() {
    Releases contents = new Releases();
    ownDomain.ifPresent(domain -> contents.add(domain::closeWithContents));
    end(contents);
  }

  private void end(Releases contents) {
    leaveForGood();
    try {
      release(contents);
    } finally {
      closed.complete(null);
    }
  }

  private synchronized void leaveForGood() {
    if (!ended) {
      ended = true;
      watch.cancel(false);
      id.endConnection();
    }
  }

  /**
   * Releases what is left, in reverse order; one closer at a time.
   *
   * @param contents what uses it, which is released before
   */
  private void release(Releases contents) {
    synchronized (owned) {
      Releases releases = new Releases();
      releases.add(id::close);
      releases.add(contents::run);
      for (AutoCloseable made = owned.poll(); made != null; made = owned.poll()) {
        AutoCloseable next = made;
        releases.add(() -> close(next));
      }
      releases.add(this::closeChannel);
      releases.run();
    }
  }

  private void close(AutoCloseable made) {
    try {
      made.close();
    } catch (RuntimeException e) {
      owned.add(made); // for the next call
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("objects of the verbs throw no checked exceptions", e);
    }
  }

  /** It may be the last user of the device: only when nothing of it is open. */
  private void closeChannel() {
    if (owned.isEmpty()) {
      channel.close();
    }
  }

  @Override
  public String toString() {
    return "connection over " + id;
  }
}

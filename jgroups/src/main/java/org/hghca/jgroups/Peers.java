package org.hghca.jgroups;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.cm.RdmaRequest;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;
import org.jgroups.logging.Log;
import org.jgroups.stack.IpAddress;

/**
 * The members that this one exchanges messages with, and how connections to them are made: by the
 * connection manager, with a {@link Greeting} in both directions.
 */
final class Peers implements AutoCloseable, Link.Owner, Peer.Connector {
  private static final Duration TURN = Duration.ofSeconds(1);
  private static final byte[] NO_DATA = {};

  /** Of all links: the usual ring of a completion queue. */
  private static final int MOST_REQUESTS = 8192;

  /** Takes what arrives, on the poller's thread. */
  interface Receiver {
    void receive(IpAddress from, SegmentInput bundle, int length) throws Exception;
  }

  private final Hca hca;
  private final Settings settings;
  private final Receiver receiver;
  private final Log log;
  private final long incarnation = ThreadLocalRandom.current().nextLong();
  private final Map<IpAddress, Peer> peers = new ConcurrentHashMap<>();

  /** Links whose queue pairs are not closed. */
  private final Set<Link> open = ConcurrentHashMap.newKeySet();

  private final RdmaServer server;
  private final IpAddress address;
  private final ProtectionDomain domain;
  private final Poller poller;

  /** What may wait: attempts to connect, answers, and closing. */
  private final ExecutorService tasks =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rdma-", 0).factory());

  private volatile boolean closed;

  /**
   * Listens; requests wait until {@link #accept}.
   *
   * @param ports to try in order
   * @throws VerbsException EADDRINUSE when all are taken
   */
  Peers(Hca hca, List<Integer> ports, Settings settings, Receiver receiver, Log log) {
    this.hca = hca;
    this.settings = settings;
    this.receiver = receiver;
    this.log = log;
    server = listen(ports);
    address = new IpAddress(hca.address(), server.localAddress().getPort());
    domain = hca.context().allocateProtectionDomain();
    int requests = hca.context().queryDevice().maxCqe();
    poller =
        new Poller(
            hca.context(),
            Math.min(requests, MOST_REQUESTS),
            "rdma-poller " + address,
            cause -> log.error("%s: the device has failed: %s", address, cause.getMessage()));
  }

  private RdmaServer listen(List<Integer> ports) {
    VerbsException taken = null;
    for (int port : ports) {
      try {
        return RdmaServer.listen(new InetSocketAddress(hca.address(), port), hca.options());
      } catch (VerbsException e) {
        if (e.errno() != Errno.EADDRINUSE) {
          throw e;
        }
        taken = e;
      }
    }
    throw new VerbsException(
        Errno.EADDRINUSE,
        "all ports from RDMA.bind_port=%d to %d of %s are taken: give another bind_port, or a larger port_range"
            .formatted(ports.getFirst(), ports.getLast(), hca.address().getHostAddress()),
        taken);
  }

  IpAddress address() {
    return address;
  }

  /** Takes requests from now on. */
  void accept() {
    tasks.execute(this::acceptAll);
  }

  private void acceptAll() {
    while (!closed) {
      try {
        server.next(TURN).ifPresent(this::accept);
      } catch (InterruptedException _) {
        return;
      } catch (VerbsException e) {
        if (!closed) {
          log.error("%s: no connections are accepted any more: %s", address, e.getMessage());
        }
        return;
      }
    }
  }

  private void accept(RdmaRequest request) {
    Optional<Greeting> greeting = Greeting.of(request.privateData());
    if (greeting.isEmpty()) {
      log.warn(
          "%s: refused %s, which is no member of this version (%d): it must use RDMA of the same"
              + " release",
          address, request.remoteAddress(), Greeting.VERSION);
      refuse(request);
      return;
    }
    Peer peer = peer(greeting.get().address());
    if (peer.requested(greeting.get())) {
      run(() -> accept(peer, request, greeting.get()));
    } else {
      refuse(request);
    }
  }

  private void refuse(RdmaRequest request) {
    try {
      request.reject(NO_DATA);
    } catch (VerbsException e) {
      log.debug("%s: %s has given up: %s", address, request.remoteAddress(), e.getMessage());
    }
  }

  @Override
  public void run(Runnable task) {
    try {
      tasks.execute(task);
    } catch (RejectedExecutionException _) {
      // closed, which ends all links
    }
  }

  private void accept(Peer peer, RdmaRequest request, Greeting greeting) {
    try {
      peer.accepted(
          link(peer, peer.attempts(), options -> request.accept(options), Optional.of(greeting)));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Link connect(Peer peer, int attempt) throws InterruptedException {
    InetSocketAddress remote =
        new InetSocketAddress(peer.address().getIpAddress(), peer.address().getPort());
    return link(
        peer, attempt, options -> RdmaConnection.connect(remote, options), Optional.empty());
  }

  /** A way to a connection. */
  private interface Way {
    RdmaConnection take(RdmaOptions options) throws InterruptedException;
  }

  /** Makes a link; null if that fails. */
  private Link link(Peer peer, int attempt, Way way, Optional<Greeting> asked)
      throws InterruptedException {
    Link link = null;
    try {
      link = poller.add(n -> new Link(peer.address(), n, domain, settings, this));
      open.add(link);
      RdmaConnection made = way.take(options(attempt, link));
      link.connected(made);
      if (asked.isEmpty()) {
        Greeting answer = Greeting.of(made.peerData()).orElseThrow(() -> foreign(peer));
        peer.answered(answer);
        link.begin(answer);
      } else {
        link.begin(asked.get());
      }
      if (link.isClosed()) {
        throw new VerbsException(Errno.ECONNRESET, "it has ended at once");
      }
      log.debug("%s: connected to %s", address, peer.address());
      return link;
    } catch (VerbsException e) {
      log.debug("%s: no connection to %s: %s", address, peer.address(), e.getMessage());
      if (link != null) {
        close(link);
      }
      return null;
    }
  }

  private static VerbsException foreign(Peer peer) {
    return new VerbsException(
        Errno.EINVAL, "what listens at %s is no member of this version".formatted(peer.address()));
  }

  private RdmaOptions options(int attempt, Link link) {
    Greeting greeting =
        new Greeting(address, incarnation, attempt, settings.bufferSize(), settings.buffers());
    return hca.options()
        .withLocalAddress(new InetSocketAddress(hca.address(), 0))
        .withTimeout(settings.connectTimeout())
        .withPrivateData(greeting.toBytes())
        .withPrepare(link::prepare)
        .withQueuePair(
            domain,
            QueuePairConfig.rc(poller.queue(), poller.queue())
                .sendDepth(settings.sendDepth())
                .receiveDepth(settings.receiveDepth())
                .singleOwner());
  }

  private Peer peer(IpAddress to) {
    return peers.computeIfAbsent(to, key -> new Peer(key, address, this));
  }

  /**
   * Sends a bundle, or drops it.
   *
   * @return whether it was not dropped
   */
  boolean send(IpAddress to, byte[] data, int offset, int length) throws InterruptedException {
    return !closed && peer(to).send(data, offset, length);
  }

  @Override
  public void received(IpAddress from, SegmentInput bundle, int length) throws Exception {
    receiver.receive(from, bundle, length);
  }

  @Override
  public void ended(Link link, String why) {
    log.debug("%s: the connection to %s has ended: %s", address, link.peer(), why);
    Peer peer = peers.get(link.peer());
    run(
        () -> {
          if (peer == null) {
            release(link);
          } else {
            peer.ended(link);
          }
        });
  }

  @Override
  public void release(Link link) {
    close(link);
  }

  private void close(Link link) {
    if (open.remove(link)) {
      try {
        link.close();
      } catch (VerbsException e) {
        log.debug("%s: closing the connection to %s: %s", address, link.peer(), e.getMessage());
      }
      poller.retire(link);
    }
  }

  /** Leaves those that are no members any more. */
  void leave(Collection<IpAddress> left) {
    left.stream()
        .map(peers::remove)
        .filter(Objects::nonNull)
        .map(Peer::leave)
        .filter(Objects::nonNull)
        .forEach(link -> run(() -> close(link)));
  }

  long connected() {
    return peers.values().stream().filter(Peer::isConnected).count();
  }

  /** Lines of text, one for each peer. */
  String describe() {
    return String.join("\n", peers.values().stream().map(Peer::toString).sorted().toList());
  }

  /**
   * Sends what is under way, for at most so long, and ends all connections; a thread that is
   * interrupted does not wait.
   */
  @Override
  public void close() {
    closed = true;
    try {
      for (Link link : peers.values().stream().map(Peer::leave).filter(Objects::nonNull).toList()) {
        link.drain(settings.sendTimeout());
      }
      tasks.shutdownNow();
      var _ = tasks.awaitTermination(settings.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    open.forEach(this::close);
    server.close();
    poller.stop();
    domain.closeWithContents();
    poller.close();
  }
}

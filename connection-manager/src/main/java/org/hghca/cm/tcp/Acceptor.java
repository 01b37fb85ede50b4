package org.hghca.cm.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;

/**
 * Listens on one address for the services there. One thread accepts sockets, one for each socket
 * reads its request. At most {@link Limits#halfOpen} requests are read, or wait for room in their
 * listener's backlog, at a time; more wait in the kernel.
 */
final class Acceptor {
  private static final ConditionLog LOG = ConditionLog.of(Acceptor.class);

  /** The longest queue of the kernel; it takes fewer if its limit is lower. */
  private static final int KERNEL_BACKLOG = 1024;

  private final TcpCarrier carrier;
  private final ServerSocketChannel server;
  private final Map<Long, Listener> listeners = new ConcurrentHashMap<>();
  private final Semaphore halfOpen;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread accepting;

  /** Listens; {@link #begin} accepts. */
  Acceptor(TcpCarrier carrier, InetSocketAddress address) throws IOException {
    this.carrier = carrier;
    this.halfOpen = new Semaphore(carrier.limits().halfOpen());
    this.server = ServerSocketChannel.open();
    try {
      server.bind(address, KERNEL_BACKLOG);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    this.accepting = Thread.ofVirtual().name("hghca-cm-accept-" + address).unstarted(this::accept);
  }

  void begin() {
    accepting.start();
  }

  /** Adds a service. Returns false if it is there already. */
  boolean add(long serviceId, Listener listener) {
    return listeners.putIfAbsent(serviceId, listener) == null;
  }

  /** Removes a service, and says whether it was the last. */
  boolean remove(long serviceId, Listener listener) {
    listeners.remove(serviceId, listener);
    return listeners.isEmpty();
  }

  /** Stops listening: the socket is closed only when no thread accepts any more. */
  void close() {
    listeners.clear();
    closed.countDown();
    try {
      server.close();
    } catch (IOException e) {
      LOG.debug(about(), "closing a listening socket", e);
    }
    halfOpen.release(); // for the thread that accepts
    try {
      accepting.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private About about() {
    return About.device(carrier.context().device().name());
  }

  /** With the peer, unless its socket has ended. */
  private About about(Link link) {
    try {
      return about().with(link.remote());
    } catch (IOException _) {
      return about();
    }
  }

  private boolean isOpen() {
    return closed.getCount() > 0;
  }

  private void accept() {
    while (isOpen()) {
      halfOpen.acquireUninterruptibly();
      try {
        SocketChannel channel = server.accept();
        Thread.ofVirtual().name("hghca-cm-passive").start(() -> serve(channel));
      } catch (IOException e) {
        halfOpen.release();
        if (isOpen()) {
          LOG.warn(about(), "cannot accept a connection; tries again: {}", e.getMessage());
          pause();
        }
      }
    }
  }

  /** Waits before it tries again, but not for a closed listener. */
  private void pause() {
    try {
      var _ = closed.await(carrier.limits().offer().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(SocketChannel channel) {
    Runnable rest = () -> {};
    try {
      Link link = new Link(carrier, channel);
      rest = request(link);
    } catch (IOException e) {
      LOG.debug(about(), "a socket that ended at once", e);
    } finally {
      halfOpen.release();
    }
    rest.run();
  }

  /**
   * Whether a request that the backlog has no room for can be offered again, after a while. Also
   * after {@link #close}, at once: the next offer finds no listener, and refuses for that reason.
   */
  private boolean waits(Link link, long deadline) throws IOException {
    pause();
    return System.nanoTime() < deadline && !link.hasEnded();
  }

  private long offerDeadline() {
    return System.nanoTime() + carrier.limits().answer().toNanos();
  }

  /** Reads the request and hands it over; returns what remains to do for it. */
  private Runnable request(Link link) {
    try {
      link.deadline(carrier.limits().request());
      Message first = link.read();
      link.noDeadline();
      InetSocketAddress local = link.local();
      InetSocketAddress remote = link.remote();
      return switch (first.kind()) {
        case REQUEST -> {
          ConnectRequest request = Bodies.request(first.body(), carrier.context(), local, remote);
          TcpHandshake handshake = TcpHandshake.passive(carrier, request, link);
          yield orClose(handshake::close, () -> offer(handshake, link, request));
        }
        case SERVICE_REQUEST -> {
          ServiceRequest request = Bodies.service(first.body(), carrier.context(), local, remote);
          PassiveQuestion question = new PassiveQuestion(carrier, request, link);
          yield orClose(question::close, () -> offer(question, link, request));
        }
        default -> throw new MalformedException(first.kind() + " in the place of a request");
      };
    } catch (VersionException e) {
      LOG.warn(about(link), "refused a connection: {}", e.getMessage());
      return refuse(link, TcpHandshake.OTHER_VERSION);
    } catch (UnusableOfferException e) {
      LOG.warn(about(link), "refused a connection: {}", e.getMessage());
      return refuse(link, TcpHandshake.UNSUPPORTED);
    } catch (MalformedException e) {
      LOG.info(
          about(link), "closed a socket that is not of a connection manager: {}", e.getMessage());
    } catch (IOException e) {
      LOG.debug(about(link), "a socket without a request", e);
    } catch (RuntimeException e) {
      LOG.error(about(link), "closed a socket whose request failed", e);
    }
    link.close();
    return () -> {};
  }

  private static Runnable refuse(Link link, int reason) {
    link.write(Message.reject(reason, PrivateData.EMPTY));
    link.close();
    return () -> {};
  }

  private interface Offer {
    Runnable make() throws IOException;
  }

  /** Offers a request, and refuses it where that fails. */
  private static Runnable orClose(Runnable close, Offer offer) throws IOException {
    try {
      return offer.make();
    } catch (IOException | RuntimeException e) {
      close.run();
      throw e;
    }
  }

  /** Offers a request until it is taken, while the peer waits. */
  private Runnable offer(TcpHandshake handshake, Link link, ConnectRequest request)
      throws IOException {
    long deadline = offerDeadline();
    do {
      Listener listener = listeners.get(request.serviceId());
      if (listener == null) {
        handshake.refuse(TcpHandshake.NO_LISTENER);
        return () -> {};
      }
      Optional<HandshakeEvents> taken = listener.requested(handshake, request);
      if (taken.isPresent()) {
        return () -> handshake.follow(taken.get());
      }
    } while (handshake.isRequested() && waits(link, deadline));
    handshake.refuse(TcpHandshake.TIMED_OUT);
    return () -> {};
  }

  private Runnable offer(PassiveQuestion question, Link link, ServiceRequest request)
      throws IOException {
    long deadline = offerDeadline();
    do {
      Listener listener = listeners.get(request.serviceId());
      if (listener == null) {
        carrier.ended(question);
        return refuse(link, TcpHandshake.NO_LISTENER);
      }
      if (listener.requested(question, request)) {
        return question::follow;
      }
    } while (waits(link, deadline));
    question.close();
    return () -> {};
  }
}

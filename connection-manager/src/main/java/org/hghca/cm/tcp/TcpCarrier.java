package org.hghca.cm.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Connections by TCP, for devices that have no queue pair of the general services: the addresses
 * are those of the hosts, and the handshake tells the GIDs.
 *
 * <p>Each connection has a socket, which stays open as long as the connection; a service listens on
 * the TCP port of the same number. A thread of the platform serves the deadlines; all others are
 * virtual and block on their socket.
 */
public final class TcpCarrier implements Carrier {
  private static final int PORT = 0xffff;

  private final Context context;
  private final Limits limits;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<InetSocketAddress, Acceptor> acceptors = new HashMap<>();
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final Set<AutoCloseable> handshakes = ConcurrentHashMap.newKeySet();
  private boolean closed;

  TcpCarrier(Context context, Limits limits) {
    this.context = Objects.requireNonNull(context);
    this.limits = limits;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("hghca-cm-timer").factory());
    timer.setRemoveOnCancelPolicy(true);
  }

  /** A carrier for the connections of a device. */
  public static TcpCarrier of(Context context) {
    return new TcpCarrier(context, Limits.DEFAULT);
  }

  Context context() {
    return context;
  }

  Limits limits() {
    return limits;
  }

  /** Runs a task later, unless the carrier is closed. */
  Future<?> after(Duration time, Runnable task) {
    try {
      return timer.schedule(task, time.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException _) {
      return CompletableFuture.completedFuture(null); // closed: nobody waits for it
    }
  }

  void opened(Link link) throws IOException {
    links.add(link);
    if (isClosed()) {
      throw new IOException("the carrier is closed");
    }
  }

  void closed(Link link) {
    links.remove(link);
  }

  void began(AutoCloseable handshake) {
    handshakes.add(handshake);
  }

  void ended(AutoCloseable handshake) {
    handshakes.remove(handshake);
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void requireOpen() {
    if (isClosed()) {
      throw new VerbsException(Errno.EINVAL, "the carrier is closed");
    }
  }

  @Override
  public synchronized Registration listen(
      long serviceId, InetSocketAddress local, Listener listener) {
    requireOpen();
    InetSocketAddress address = new InetSocketAddress(local.getAddress(), (int) (serviceId & PORT));
    try {
      Acceptor acceptor = acceptors.get(address);
      if (acceptor == null) {
        acceptor = new Acceptor(this, address);
        acceptor.begin();
        acceptors.put(address, acceptor);
      }
      if (!acceptor.add(serviceId, listener)) {
        throw new VerbsException(
            Errno.EADDRINUSE, "service 0x%x has a listener at %s".formatted(serviceId, address));
      }
      return () -> unlisten(address, serviceId, listener);
    } catch (IOException e) {
      throw failed(address, e);
    }
  }

  private static VerbsException failed(InetSocketAddress address, IOException e) {
    String cause = String.valueOf(e.getMessage());
    Errno errno = Errno.EIO;
    if (e instanceof SocketException) {
      if (cause.contains("in use")) {
        errno = Errno.EADDRINUSE;
      } else if (cause.contains("Cannot assign")) {
        errno = Errno.EADDRNOTAVAIL;
      } else if (cause.contains("ermission")) {
        errno = Errno.EACCES;
      }
    }
    return new VerbsException(
        errno, "cannot listen on the TCP port %s: %s".formatted(address, cause), e);
  }

  private synchronized void unlisten(InetSocketAddress address, long serviceId, Listener listener) {
    Acceptor acceptor = acceptors.get(address);
    if (acceptor != null && acceptor.remove(serviceId, listener)) {
      acceptors.remove(address);
      acceptor.close();
    }
  }

  @Override
  public Handshake connect(ConnectRequest request, HandshakeEvents events) {
    requireOpen();
    TcpHandshake handshake = TcpHandshake.active(this, request, events);
    Thread.ofVirtual().name("hghca-cm-active").start(handshake::run);
    return handshake;
  }

  @Override
  public Registration resolve(ServiceRequest request, ServiceEvents events) {
    requireOpen();
    Question question = new Question(this, request, events);
    Thread.ofVirtual().name("hghca-cm-question").start(question::run);
    return question;
  }

  /** How many handshakes, sockets and listening sockets it has: 0 when nothing leaks. */
  synchronized int size() {
    return handshakes.size() + links.size() + acceptors.size();
  }

  @Override
  public void close() {
    List<Acceptor> listening;
    synchronized (this) {
      closed = true;
      listening = new ArrayList<>(acceptors.values());
      acceptors.clear();
    }
    listening.forEach(Acceptor::close);
    for (AutoCloseable handshake : handshakes) {
      close(handshake);
    }
    links.forEach(Link::close);
    timer.shutdownNow();
  }

  private static void close(AutoCloseable handshake) {
    try {
      handshake.close();
    } catch (Exception e) {
      throw new AssertionError("closing a handshake does not fail", e);
    }
  }

  @Override
  public String toString() {
    return "TCP carrier of %s, %d listening sockets, %d handshakes, %d sockets"
        .formatted(context.device().name(), acceptors.size(), handshakes.size(), links.size());
  }
}

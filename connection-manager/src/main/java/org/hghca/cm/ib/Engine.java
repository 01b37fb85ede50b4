package org.hghca.cm.ib;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Parsed;
import org.hghca.cm.mad.Parsed.Malformed;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The protocol of one device, without its queue pair: the lock, the time, what is sent, and what is
 * reported. Reports are made by {@link #step} alone, so that they come one after another.
 */
final class Engine {
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final MadTransport transport;
  private final long nodeGuid;
  private final Mtu mtu;
  private final long origin;

  /** In the upper half of each transaction ID. */
  private final int agent;

  private final Timers timers = new Timers();
  private final Handshakes handshakes;
  private final Listeners listeners = new Listeners();
  private final Services services;
  private final Dispatcher dispatcher = new Dispatcher(this);
  private final ArrayDeque<Delivery> deliveries = new ArrayDeque<>();
  private int transactions;
  private boolean closed;

  /** Makes the error that says why the transport has failed, if it has. */
  private Optional<Supplier<VerbsException>> failure = Optional.empty();

  /**
   * A call to the application.
   *
   * @param wanted whether it is still due, asked under the lock
   */
  private record Delivery(BooleanSupplier wanted, Runnable call) {}

  /**
   * An engine without connections.
   *
   * @param nodeGuid of the device
   * @param mtu the path MTU to peers that name none
   * @param random for communication IDs
   */
  Engine(MadTransport transport, long nodeGuid, Mtu mtu, RandomGenerator random) {
    this.transport = transport;
    this.nodeGuid = nodeGuid;
    this.mtu = mtu;
    this.origin = transport.nanoTime();
    this.agent = random.nextInt();
    this.handshakes = new Handshakes(random);
    this.services = new Services(this, random);
  }

  /** Takes a datagram; on the carrier's thread, which calls {@link #step} afterwards. */
  void received(byte[] datagram, Arrival from) {
    switch (Parsed.of(datagram)) {
      case Malformed(String reason) -> LOG.debug("Dropped from {}: {}", from.peer(), reason);
      case Mad mad -> locked(() -> dispatcher.received(mad, from));
    }
  }

  /** No datagram can be sent to a destination: connections that are asked for there fail. */
  void unsendable(Gid destination, String why) {
    call(
        () -> {
          handshakes.all().stream()
              .filter(handshake -> handshake.isWith(destination))
              .forEach(handshake -> handshake.unsendable(why));
          services.unsendable(destination, why);
        });
  }

  /**
   * Does what is due, and reports to the application; on the carrier's thread.
   *
   * @return the nanoseconds until something is due; empty when nothing is
   */
  OptionalLong step() {
    while (true) {
      Optional<Delivery> next;
      lock.lock();
      try {
        timers.advance(now());
        next = Optional.ofNullable(deliveries.poll());
        if (next.isEmpty()) {
          return timers.next().map(at -> OptionalLong.of(at - now())).orElse(OptionalLong.empty());
        }
        next = next.filter(delivery -> delivery.wanted.getAsBoolean());
      } finally {
        lock.unlock();
      }
      next.ifPresent(Engine::deliver);
    }
  }

  private static void deliver(Delivery delivery) {
    try {
      delivery.call.run();
    } catch (RuntimeException e) {
      LOG.error("A handler of events of the connection manager has thrown", e);
    }
  }

  /** What the application does. */
  void call(Runnable action) {
    locked(action);
    transport.wake();
  }

  /** What the application does, with a result. */
  <T> T ask(Supplier<T> action) {
    T result;
    lock.lock();
    try {
      result = action.get();
    } finally {
      lock.unlock();
    }
    transport.wake();
    return result;
  }

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all connections; no report begins after this call. */
  void close() {
    locked(
        () -> {
          closed = true;
          listeners.clear();
          services.clear();
          handshakes.all().forEach(IbHandshake::end);
          handshakes.all().forEach(IbHandshake::forget);
          deliveries.clear();
        });
    transport.wake();
  }

  /**
   * The transport has failed: everything that is open is told, by {@link #step}, and nothing is
   * sent any more. On the carrier's thread, which ends.
   */
  void fail(String why, Throwable cause) {
    locked(
        () -> {
          if (!closed) {
            Supplier<VerbsException> error = () -> new VerbsException(Errno.EIO, why, cause);
            failure = Optional.of(error);
            handshakes.all().forEach(handshake -> handshake.fail(error.get()));
            services.fail(error.get());
            for (Listeners.Entry entry : listeners.all()) {
              deliver(() -> listeners.isOpen(entry), () -> entry.listener().failed(error.get()));
            }
          }
        });
  }

  // Under the lock.

  void checkOpen() {
    if (closed) {
      throw new VerbsException(Errno.EINVAL, "the carrier is closed");
    }
    checkAlive();
  }

  /**
   * Whether the transport works.
   *
   * @throws VerbsException EIO when it has failed
   */
  void checkAlive() {
    if (failure.isPresent()) {
      throw failure.get().get();
    }
  }

  /** Reports something, if it is still wanted then. */
  void deliver(BooleanSupplier wanted, Runnable call) {
    deliveries.add(new Delivery(wanted, call));
  }

  /**
   * The bytes of a datagram.
   *
   * @throws VerbsException EINVAL when a value does not fit
   */
  byte[] encoded(Supplier<Mad> mad) {
    try {
      return mad.get().toBytes();
    } catch (IllegalArgumentException e) {
      throw new VerbsException(Errno.EINVAL, e.getMessage(), e);
    }
  }

  /** As {@link #encoded(Supplier)}. */
  byte[] encoded(Mad mad) {
    return encoded(() -> mad);
  }

  void send(byte[] mad, AddressVector to) {
    transport.send(mad, to);
  }

  /** Nanoseconds since the engine began. */
  long now() {
    return transport.nanoTime() - origin;
  }

  Timers.Timer after(long nanos, Runnable task) {
    return timers.set(now() + nanos, task);
  }

  void cancel(Timers.Timer timer) {
    timers.cancel(timer);
  }

  long newTransaction() {
    return (long) agent << 32 | transactions++ & 0xffff_ffffL;
  }

  OptionalInt indexOf(Gid gid) {
    return transport.indexOf(gid);
  }

  long nodeGuid() {
    return nodeGuid;
  }

  Mtu mtu() {
    return mtu;
  }

  /** The node GUID, as additional information of a rejection. */
  PrivateData guid() {
    return PrivateData.of(ByteBuffer.allocate(Long.BYTES).putLong(nodeGuid).array());
  }

  Handshakes handshakes() {
    return handshakes;
  }

  Listeners listeners() {
    return listeners;
  }

  Services services() {
    return services;
  }

  /** Entries of all tables: 0 when nothing is known of any peer. */
  int size() {
    lock.lock();
    try {
      return handshakes.size() + services.size() + timers.size() + deliveries.size();
    } finally {
      lock.unlock();
    }
  }
}

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
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;

/**
 * What the messages of one device have in common: the lock, the time, what is sent, and what is
 * reported. Reports are made by {@link #step} alone, so that they come one after another.
 */
final class MadAgent {
  private static final ConditionLog LOG = ConditionLog.of(MadAgent.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final MadTransport transport;
  private final long nodeGuid;
  private final Mtu mtu;
  private final long origin;

  /** In the upper half of each transaction ID. */
  private final int highTransaction;

  private final Timers timers = new Timers();
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
   * An agent that has sent nothing.
   *
   * @param nodeGuid of the device
   * @param mtu the path MTU to peers that name none
   * @param random for transaction IDs
   */
  MadAgent(MadTransport transport, long nodeGuid, Mtu mtu, RandomGenerator random) {
    this.transport = transport;
    this.nodeGuid = nodeGuid;
    this.mtu = mtu;
    this.origin = transport.nanoTime();
    this.highTransaction = random.nextInt();
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
      next.ifPresent(MadAgent::deliver);
    }
  }

  private static void deliver(Delivery delivery) {
    try {
      delivery.call.run();
    } catch (RuntimeException e) {
      LOG.error(About.NOTHING, "a handler of events of the connection manager has thrown", e);
    }
  }

  /** Does what the application asks for under the lock, and wakes the carrier's thread. */
  void lockedThenWake(Runnable action) {
    locked(action);
    transport.wake();
  }

  /** As {@link #lockedThenWake}, with a result. */
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

  /** Does something under the lock. */
  void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  // Under the lock.

  /** Ends it: no report begins after this call. */
  void close() {
    closed = true;
    deliveries.clear();
  }

  /** The transport has failed: nothing is sent any more. */
  void fail(Supplier<VerbsException> error) {
    failure = Optional.of(error);
  }

  boolean isClosed() {
    return closed;
  }

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

  /** Nanoseconds since the agent began. */
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
    return (long) highTransaction << 32 | transactions++ & 0xffff_ffffL;
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

  /** Timers and reports that are due. */
  int size() {
    return timers.size() + deliveries.size();
  }
}

package org.hghca.vfio.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Interrupt vectors that another party signals: an eventfd for each, which is passed to the kernel
 * or another process, and an epoll over all of them. Thread-safe; {@link #await} is for one thread.
 *
 * <p>When the function is lost, {@link #await} throws {@code CLOSED} with what happened, from then
 * on. Closing ends a wait in progress in the same way; it is idempotent.
 */
public final class EventInterrupts implements Interrupts, AutoCloseable {
  private static final int MOST_VECTORS = 64;

  // sys/eventfd.h, sys/epoll.h
  private static final int EFD_CLOEXEC = 0x8_0000;
  private static final int EFD_NONBLOCK = 0x800;
  private static final int EPOLL_CLOEXEC = 0x8_0000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLLIN = 0x1;

  // struct epoll_event, packed: 32 bits of events, 64 bits that are returned unchanged.
  private static final long EVENT_SIZE = 12;
  private static final long EVENT_EVENTS = 0;
  private static final long EVENT_DATA = 4;

  private static final ValueLayout.OfLong DATA = ValueLayout.JAVA_LONG_UNALIGNED;

  private final SystemCalls linux;
  private final Consumer<String> onLoss;
  private final int vectors;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment one = arena.allocate(ValueLayout.JAVA_LONG);

  /** For the thread that waits. */
  private final MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);

  private final MemorySegment ready = arena.allocate(EVENT_SIZE * (MOST_VECTORS + 8), 8);

  /** Held shared while a descriptor is in use, and exclusively while all are closed. */
  private final ReadWriteLock life = new ReentrantReadWriteLock();

  private final int epoll;

  /** The vectors' eventfds, then the wake-up eventfd, then those that report a loss. */
  private final List<Integer> events = new ArrayList<>();

  /** The meaning of each of the last kind. */
  private final List<String> causes = new ArrayList<>();

  private final AtomicLongArray counts = new AtomicLongArray(MOST_VECTORS);
  private final AtomicReference<String> loss = new AtomicReference<>();
  private final AtomicBoolean told = new AtomicBoolean();
  private volatile boolean closed;

  /**
   * Creates the events.
   *
   * @param vectors number of vectors of the function; at most 64 are used
   * @param onLoss called once with the reason, on the thread that noticed, when the function is
   *     lost
   * @throws VfioException {@code NO_MEMORY} when the process has no descriptors left
   */
  public EventInterrupts(SystemCalls linux, int vectors, Consumer<String> onLoss) {
    this.linux = linux;
    this.onLoss = onLoss;
    this.vectors = Math.min(MOST_VECTORS, vectors);
    one.set(ValueLayout.JAVA_LONG, 0, 1);
    epoll = linux.epollCreate(EPOLL_CLOEXEC);
    try {
      checked(epoll);
      for (int i = 0; i <= this.vectors; i++) {
        addEvent();
      }
    } catch (VfioException e) {
      close();
      throw e;
    }
  }

  private static int checked(int answer) {
    if (answer < 0) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "cannot create the events of interrupts: %s; raise ulimit -n"
              .formatted(LinuxErrno.describe(answer)));
    }
    return answer;
  }

  private int addEvent() {
    int event = checked(linux.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    int index = events.size();
    events.add(event);
    try (Arena local = Arena.ofConfined()) {
      MemorySegment structure = local.allocate(EVENT_SIZE);
      structure.set(ValueLayout.JAVA_INT_UNALIGNED, EVENT_EVENTS, EPOLLIN);
      structure.set(DATA, EVENT_DATA, index);
      checked(linux.epollControl(epoll, EPOLL_CTL_ADD, event, structure));
    }
    return event;
  }

  /** The vectors' eventfds in order. This object keeps ownership. */
  public int[] descriptors() {
    return events.stream().limit(vectors).mapToInt(Integer::intValue).toArray();
  }

  /**
   * Creates one more eventfd, whose signal means that the function is lost. Call it before the
   * first wait.
   *
   * @param cause the meaning of its signal, for the message
   * @return the descriptor, which this object owns
   */
  public int addLoss(String cause) {
    causes.add(cause);
    return addEvent();
  }

  /** Reports that the function is lost: a current wait ends, and all later ones throw. */
  public void lost(String cause) {
    loss.compareAndSet(null, cause);
    reportLoss();
    wake();
  }

  private void reportLoss() {
    String cause = loss.get();
    if (cause != null && told.compareAndSet(false, true)) {
      onLoss.accept(cause);
    }
  }

  @Override
  public int vectors() {
    return vectors;
  }

  @Override
  public long await(long timeoutNanos) {
    long bits;
    life.readLock().lock();
    try {
      bits = closed ? 0 : find(timeoutNanos);
    } finally {
      life.readLock().unlock();
    }
    checkPresent();
    return bits;
  }

  @Override
  public long count(int vector) {
    return counts.get(vector);
  }

  private long find(long timeoutNanos) {
    long deadline = System.nanoTime() + timeoutNanos;
    long left = Thread.currentThread().isInterrupted() ? 0 : timeoutNanos;
    while (true) {
      int found = loss.get() == null ? linux.epollWait(epoll, ready, millis(left)) : 0;
      left = deadline - System.nanoTime();
      if (found > 0) {
        return take(found);
      }
      if (found == 0 && left <= 0
          || found < 0 && !LinuxErrno.EINTR.is(found)
          || loss.get() != null
          || Thread.currentThread().isInterrupted()) {
        return 0;
      }
    }
  }

  private static int millis(long nanos) {
    long whole = Math.max(0, nanos) / 1_000_000;
    return (int) Math.min(Integer.MAX_VALUE, nanos > whole * 1_000_000 ? whole + 1 : whole);
  }

  /**
   * Returns the ready vectors; a wake-up stays pending for the next call if other events are ready.
   */
  private long take(int found) {
    long bits = 0;
    boolean woken = false;
    for (int i = 0; i < found; i++) {
      int index = (int) ready.get(DATA, i * EVENT_SIZE + EVENT_DATA);
      if (index < vectors) {
        bits |= 1L << index;
        if (drain(index) == Long.BYTES) {
          counts.addAndGet(index, count.get(ValueLayout.JAVA_LONG, 0));
        }
      } else if (index == vectors) {
        woken = true;
      } else {
        loss.compareAndSet(null, causes.get(index - vectors - 1));
      }
    }
    if (woken && bits == 0) {
      long _ = drain(vectors);
    }
    return bits;
  }

  /** Returns the bytes that were read. */
  private long drain(int index) {
    return linux.read(events.get(index), count);
  }

  private void checkPresent() {
    reportLoss();
    String cause = loss.get();
    if (cause != null) {
      throw new VfioException(Reason.CLOSED, cause);
    }
    if (closed) {
      throw new VfioException(Reason.CLOSED, "the function is closed");
    }
  }

  @Override
  public void wake() {
    life.readLock().lock();
    try {
      if (!closed) {
        signal();
      }
    } finally {
      life.readLock().unlock();
    }
  }

  private void signal() {
    linux.write(events.get(vectors), one);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    if (events.size() > vectors) {
      signal(); // Ends the wait that would hold the lock.
    }
    life.writeLock().lock();
    try {
      for (int event : events) {
        linux.close(event);
      }
      if (epoll >= 0) {
        linux.close(epoll);
      }
      arena.close();
    } finally {
      life.writeLock().unlock();
    }
  }
}

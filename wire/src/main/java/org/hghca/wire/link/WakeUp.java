package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.SpinMutex;
import org.hghca.linux.SystemCalls;

/**
 * A descriptor that wakes a thread, which sleeps in epoll: an eventfd. A wake that comes before the
 * thread sleeps is kept, several are one.
 */
final class WakeUp implements AutoCloseable {
  private static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x80000;

  private static final MemorySegment ONE =
      Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1).asReadOnly();

  private final SystemCalls linux;
  private final int descriptor;
  private final MemorySegment count = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

  /** Held to wake the thread, in steps of virtual threads too, and to close the descriptor. */
  private final SpinMutex waking = new SpinMutex();

  private boolean closed;

  /**
   * Opens the descriptor.
   *
   * @throws LinkException when there is none left
   */
  WakeUp(SystemCalls linux) {
    this.linux = linux;
    descriptor = linux.eventfd(0, NONBLOCK_CLOSE_ON_EXEC);
    LinuxFailures.check(descriptor, "a link", "eventfd");
  }

  int descriptor() {
    return descriptor;
  }

  /** Wakes the thread; does nothing after the {@link #close}. Thread-safe. */
  void wake() {
    waking.lock();
    try {
      if (!closed) {
        linux.write(descriptor, ONE);
      }
    } finally {
      waking.unlock();
    }
  }

  /** The thread is awake. By that thread. */
  void take() {
    linux.read(descriptor, count);
  }

  @Override
  public void close() {
    waking.lock();
    try {
      closed = true;
      linux.close(descriptor);
    } finally {
      waking.unlock();
    }
  }
}

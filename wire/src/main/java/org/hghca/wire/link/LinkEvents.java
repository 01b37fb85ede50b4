package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.SystemCalls;

/**
 * What the poller's thread sleeps on: an epoll instance of the sets of descriptors of all links,
 * and of the descriptor that wakes the thread.
 */
final class LinkEvents {
  /** In place of a link's index: the thread was woken. */
  static final int WAKE = -1;

  static final int CLOSE_ON_EXEC = 0x80000;

  private static final int ADD = 1;
  private static final int DELETE = 2;
  private static final int MODIFY = 3;

  /** {@code struct epoll_event}: events, and their data, here the link's index. */
  static final int EVENT = 12;

  private static final int EVENT_DATA = 4;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final int EVENTS = 16;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final SystemCalls linux;
  private final int epoll;
  private final WakeUp wakeUp;
  private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EVENT, 8);

  /**
   * Opens the descriptors of the thread.
   *
   * @throws LinkException when there are none left
   */
  LinkEvents(SystemCalls linux) {
    this.linux = linux;
    epoll = linux.epollCreate(CLOSE_ON_EXEC);
    LinuxFailures.check(epoll, "a link", "epoll_create1");
    try {
      wakeUp = new WakeUp(linux);
    } catch (RuntimeException e) {
      linux.close(epoll);
      throw e;
    }
    try {
      control(epoll, ADD, wakeUp.descriptor(), LinkWatch.READABLE, WAKE);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  SystemCalls linux() {
    return linux;
  }

  /**
   * A set for the descriptors of a link: an epoll instance.
   *
   * @throws LinkException when there is no descriptor left
   */
  int openSet(int index) {
    int created = linux.epollCreate(CLOSE_ON_EXEC);
    LinuxFailures.check(created, "a link", "epoll_create1");
    try {
      control(epoll, ADD, created, LinkWatch.READABLE, index);
    } catch (RuntimeException e) {
      linux.close(created);
      throw e;
    }
    return created;
  }

  void closeSet(int set) {
    linux.close(set);
  }

  /** Has a set wake the thread at some events of its descriptors, or no longer at any. */
  void watch(int set, int wanted, int index) {
    control(epoll, MODIFY, set, wanted, index);
  }

  void add(int set, int descriptor, int wanted, int index) {
    control(set, ADD, descriptor, wanted, index);
  }

  void change(int set, int descriptor, int wanted, int index) {
    control(set, MODIFY, descriptor, wanted, index);
  }

  void remove(int set, int descriptor) {
    control(set, DELETE, descriptor, 0, 0);
  }

  private void control(int set, int operation, int descriptor, int wanted, int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(EVENT, 4);
      event.set(INT, 0, wanted);
      event.set(INT, EVENT_DATA, index);
      int answer = linux.epollControl(set, operation, descriptor, event);
      LinuxFailures.check(answer, "a link", "epoll_ctl");
    }
  }

  /** Wakes the thread; does nothing when it has ended. */
  void wake() {
    wakeUp.wake();
  }

  /**
   * Waits for events.
   *
   * @param deadline by {@link System#nanoTime}, {@code Long.MAX_VALUE}: for ever
   * @return how many there are; 0 or less at the deadline
   */
  int await(long deadline) {
    return linux.epollWait(epoll, events, millisTo(deadline));
  }

  /** The index of the link that an event is of, or {@link #WAKE}, which this ends. */
  int place(int event) {
    int index = index(events, event);
    if (index == WAKE) {
      wakeUp.take();
    }
    return index;
  }

  /** The index that an event has. */
  static int index(MemorySegment events, int event) {
    return events.get(INT, (long) event * EVENT + EVENT_DATA);
  }

  /** Milliseconds, rounded up; -1 where there is no deadline. */
  private static int millisTo(long deadline) {
    if (deadline == Long.MAX_VALUE) {
      return -1;
    }
    long left = Math.max(0, deadline - System.nanoTime() + NANOS_PER_MILLI - 1);
    return (int) Math.min(Integer.MAX_VALUE, left / NANOS_PER_MILLI);
  }

  void close() {
    linux.close(epoll);
    wakeUp.close();
  }
}

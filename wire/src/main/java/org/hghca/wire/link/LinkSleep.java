package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.linux.SpinMutex;
import org.hghca.linux.SystemCalls;

/**
 * Where a thread that waits for an event sleeps for what comes by a link, in place of the poller's
 * thread: so one thread wakes for a message, not two. One thread at a time.
 *
 * <p>It sleeps on an epoll instance of the link's descriptors and of one by which others wake it:
 * who wakes it too late leaves a wake behind for the next one, which sleeps once for nothing.
 */
final class LinkSleep implements AutoCloseable {
  /** How long a sleep lasts at most, in milliseconds: an interrupt does not end it. */
  static final int LONGEST = 1;

  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int NONBLOCK = 0x800;

  /** In place of a link's index: the sleeper was woken. */
  private static final int ALARM = -1;

  private static final int EVENTS = 2;

  private static final MemorySegment ONE =
      Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1).asReadOnly();

  private final SystemCalls linux;
  private final int set;
  private final int alarm;
  private final MemorySegment events = Arena.ofAuto().allocate(EVENTS * LinkEvents.EVENT, 8);
  private final MemorySegment count = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  private final AtomicBoolean taken = new AtomicBoolean();

  /** Held to wake the sleeper, in steps of virtual threads too, and to close the descriptors. */
  private final SpinMutex waking = new SpinMutex();

  private boolean closed;

  /**
   * Opens its descriptors.
   *
   * @param descriptors the link's
   * @throws LinkException when there are none left
   */
  LinkSleep(LinkEvents epoll, int descriptors, int index) {
    this.linux = epoll.linux();
    set = linux.epollCreate(CLOSE_ON_EXEC);
    LinuxFailures.check(set, "a link", "epoll_create1");
    alarm = linux.eventfd(0, CLOSE_ON_EXEC | NONBLOCK);
    try {
      LinuxFailures.check(alarm, "a link", "eventfd");
      epoll.add(set, descriptors, LinkWatch.READABLE, index);
      epoll.add(set, alarm, LinkWatch.READABLE, ALARM);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The calling thread is going to sleep; returns false where another one does. */
  boolean enter() {
    return taken.compareAndSet(false, true);
  }

  /** It is awake. */
  void leave() {
    taken.set(false);
  }

  /** Whether a thread sleeps, or is about to. */
  boolean isTaken() {
    return taken.get();
  }

  /** Sleeps; returns whether the link has something. By the thread that has entered. */
  boolean sleep() {
    boolean ready = false;
    int came = linux.epollWait(set, events, LONGEST);
    for (int i = 0; i < came; i++) {
      if (LinkEvents.index(events, i) == ALARM) {
        linux.read(alarm, count);
      } else {
        ready = true;
      }
    }
    return ready;
  }

  /** Wakes the thread that sleeps, if one does. */
  void wake() {
    if (!taken.get()) {
      return;
    }
    waking.lock();
    try {
      if (!closed) {
        linux.write(alarm, ONE);
      }
    } finally {
      waking.unlock();
    }
  }

  /** Wakes the thread that sleeps, waits until it has left, and releases the descriptors. */
  @Override
  public void close() {
    wake();
    while (!enter()) {
      Thread.onSpinWait();
    }
    waking.lock();
    try {
      closed = true;
      linux.close(set);
      if (alarm >= 0) {
        linux.close(alarm);
      }
    } finally {
      waking.unlock();
    }
  }
}

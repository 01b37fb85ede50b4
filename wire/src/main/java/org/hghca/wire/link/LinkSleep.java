package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private static final int EVENTS = 2;

  private final SystemCalls linux;
  private final int set;
  private final WakeUp alarm;
  private final MemorySegment events = Arena.ofAuto().allocate(EVENTS * LinkEvents.EVENT, 8);
  private final AtomicBoolean taken = new AtomicBoolean();

  /**
   * Opens its descriptors.
   *
   * @param descriptors the link's
   * @throws LinkException when there are none left
   */
  LinkSleep(LinkEvents epoll, int descriptors, int index) {
    this.linux = epoll.linux();
    alarm = new WakeUp(linux);
    set = linux.epollCreate(LinkEvents.CLOSE_ON_EXEC);
    try {
      LinuxFailures.check(set, "a link", "epoll_create1");
      epoll.add(set, descriptors, LinkWatch.READABLE, index);
      epoll.add(set, alarm.descriptor(), LinkWatch.READABLE, LinkEvents.WAKE);
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
      if (LinkEvents.index(events, i) == LinkEvents.WAKE) {
        alarm.take();
      } else {
        ready = true;
      }
    }
    return ready;
  }

  /** Wakes the thread that sleeps, if one does. */
  void wake() {
    if (taken.get()) {
      alarm.wake();
    }
  }

  /** Wakes the thread that sleeps, waits until it has left, and releases the descriptors. */
  @Override
  public void close() {
    wake();
    while (!enter()) {
      Thread.onSpinWait();
    }
    alarm.close();
    if (set >= 0) {
      linux.close(set);
    }
  }
}

package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.hghca.linux.SystemCalls;

/**
 * The client's event for each interrupt vector of the device. A masked vector stays pending until
 * it is unmasked; a vector without an event is ignored. Thread-safe.
 *
 * <p>An event is any file that accepts 8 bytes: an eventfd, or a pipe or a socket of a client that
 * wants notifications.
 */
final class EventVectors {
  private static final int POLLOUT = 4;

  // struct pollfd
  private static final int POLLFD_EVENTS = 4;
  private static final int POLLFD_REVENTS = 6;

  private static final int NONE = -1;

  private final SystemCalls system;
  private final int[] events;
  private final boolean[] masked;
  private final boolean[] pending;
  private final MemorySegment one = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  private final MemorySegment poll = Arena.ofAuto().allocate(8, 8);

  EventVectors(SystemCalls system, int vectors) {
    this.system = system;
    events = new int[vectors];
    masked = new boolean[vectors];
    pending = new boolean[vectors];
    Arrays.fill(events, NONE);
    one.set(ValueLayout.JAVA_LONG, 0, 1);
    poll.set(ValueLayout.JAVA_SHORT, POLLFD_EVENTS, (short) POLLOUT);
  }

  int vectors() {
    return events.length;
  }

  /**
   * Sets or removes the event of a vector.
   *
   * @param descriptor owned by this object from now on; -1 for none
   */
  synchronized void event(int vector, int descriptor) {
    if (events[vector] != NONE) {
      system.close(events[vector]);
    }
    events[vector] = descriptor;
  }

  synchronized void mask(int vector) {
    masked[vector] = true;
  }

  synchronized void unmask(int vector) {
    masked[vector] = false;
    if (pending[vector]) {
      pending[vector] = false;
      fire(vector);
    }
  }

  synchronized void raise(int vector) {
    if (vector < 0 || vector >= events.length) {
      return;
    }
    if (masked[vector]) {
      pending[vector] = true;
    } else {
      fire(vector);
    }
  }

  private void fire(int vector) {
    if (events[vector] == NONE) {
      return;
    }
    // At its maximum count, the write would block if the client has set the event to blocking mode,
    // at any time; the client is already notified then.
    poll.set(ValueLayout.JAVA_INT, 0, events[vector]);
    if (system.poll(poll, 0) == 1
        && poll.get(ValueLayout.JAVA_SHORT, POLLFD_REVENTS) == (short) POLLOUT) {
      system.write(events[vector], one);
    }
  }

  /** Removes all events and pending state. */
  synchronized void clear() {
    for (int vector = 0; vector < events.length; vector++) {
      event(vector, NONE);
    }
    Arrays.fill(masked, false);
    Arrays.fill(pending, false);
  }
}

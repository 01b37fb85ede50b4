package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that reads from all links of this process. It sleeps in the kernel while nothing
 * comes, and ends with the last link. Thread-safe.
 */
public final class LinkPoller {
  private static final Logger LOG = LoggerFactory.getLogger(LinkPoller.class);
  private static final LinkPoller SHARED = new LinkPoller();

  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int NONBLOCK = 0x800;
  private static final int ADD = 1;
  private static final int MODIFY = 3;

  /** {@code struct epoll_event}: events, and what is told with them, here the link's place. */
  private static final int EVENT = 12;

  private static final int EVENT_DATA = 4;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final int EVENTS = 16;

  /** The event data of the descriptor that wakes the thread. */
  private static final int WAKE = -1;

  private static final MemorySegment ONE =
      Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1).asReadOnly();

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Of the links that are open; null where a place is free. Replaced when it grows. */
  private volatile Place[] places = new Place[4];

  private int open;
  private Thread thread;
  private int epoll;
  private int wake;

  private LinkPoller() {}

  /** The poller of this process. */
  public static LinkPoller shared() {
    return SHARED;
  }

  /**
   * Has a link read from now on, until what is returned is closed, which closes the link. Closing
   * waits until the user is not being called, unless it is the user who closes.
   *
   * @param user takes what comes; it is called by one thread
   */
  public synchronized Attachment add(Link link, LinkUser user) {
    if (thread == null) {
      start();
    }
    int index = 0;
    while (index < places.length && places[index] != null) {
      index++;
    }
    Place[] more = Arrays.copyOf(places, Math.max(places.length, index + 1));
    Place place = new Place(index, link, user);
    more[index] = place;
    places = more;
    open++;
    try {
      link.open(place);
    } catch (RuntimeException e) {
      place.close();
      throw e;
    }
    return place;
  }

  private void start() {
    SystemCalls linux = Linux.system();
    epoll = linux.epollCreate(CLOSE_ON_EXEC);
    LinuxFailures.check(epoll, "a link", "epoll_create1");
    wake = linux.eventfd(0, CLOSE_ON_EXEC | NONBLOCK);
    LinuxFailures.check(wake, "a link", "eventfd");
    control(linux, ADD, wake, LinkWatch.READABLE, WAKE);
    Round round = new Round(linux, epoll, wake);
    thread = Thread.ofPlatform().daemon().name("hghca-links").unstarted(round);
    thread.start();
  }

  private void control(SystemCalls linux, int operation, int descriptor, int events, int told) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(EVENT, 4);
      event.set(INT, 0, events);
      event.set(INT, EVENT_DATA, told);
      int answer = linux.epollControl(epoll, operation, descriptor, event);
      LinuxFailures.check(answer, "a link", "epoll_ctl");
    }
  }

  private synchronized void remove(Place place) {
    Place[] fewer = places.clone();
    fewer[place.index] = null;
    places = fewer;
    if (--open == 0) {
      wake();
    }
  }

  private synchronized void hurry(Place place) {
    if (places[place.index] == place) { // else the thread may have ended, and its descriptors
      wake();
    }
  }

  private void wake() {
    Linux.system().write(wake, ONE);
  }

  /** Whether the thread is to end; it has let go of everything then. */
  private synchronized boolean ends(Round round) {
    if (open > 0) {
      return false;
    }
    round.close();
    thread = null;
    return true;
  }

  /** A link that is read, until this is closed. */
  public interface Attachment extends AutoCloseable {
    @Override
    void close();
  }

  /** A link that is read. */
  private final class Place implements LinkWatch, Attachment {
    private final int index;
    private final Link link;
    private final LinkUser user;

    /**
     * Held while the link is read and the user is called, and to close; fair, so that a close
     * comes.
     */
    private final ReentrantLock busy = new ReentrantLock(true);

    private boolean closed;

    Place(int index, Link link, LinkUser user) {
      this.index = index;
      this.link = link;
      this.user = user;
    }

    @Override
    public void add(int descriptor, int events) {
      control(Linux.system(), ADD, descriptor, events, index);
    }

    @Override
    public void change(int descriptor, int events) {
      control(Linux.system(), MODIFY, descriptor, events, index);
    }

    @Override
    public void hurry() {
      LinkPoller.this.hurry(this);
    }

    void ready(ReceiveBatch batch) {
      busy.lock();
      try {
        if (!closed) {
          batch.clear();
          link.receive(batch);
          user.arrived(batch);
        }
      } catch (RuntimeException | Error e) {
        LOG.error("{} failed; it continues with what comes next", link.description(), e);
      } finally {
        busy.unlock();
      }
    }

    @Override
    public void close() {
      busy.lock();
      try {
        if (closed) {
          return;
        }
        closed = true;
        link.close();
      } finally {
        busy.unlock();
      }
      remove(this);
    }
  }

  /** What the thread does again and again, from its first link to its last. */
  private final class Round implements Runnable {
    private final SystemCalls linux;
    private final int descriptor;
    private final int wakeup;
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EVENT, 8);
    private final MemorySegment count = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    private final ReceiveBatch batch = new ReceiveBatch(new DatagramBatch(ReceiveBatch.SIZE));

    Round(SystemCalls linux, int descriptor, int wakeup) {
      this.linux = linux;
      this.descriptor = descriptor;
      this.wakeup = wakeup;
    }

    @Override
    public void run() {
      do {
        long due = nextDeadline();
        int ready = linux.epollWait(descriptor, events, millisTo(due));
        for (int i = 0; i < ready; i++) {
          int told = events.get(INT, (long) i * EVENT + EVENT_DATA);
          if (told == WAKE) {
            linux.read(wakeup, count);
          } else {
            read(told);
          }
        }
        if (due != Long.MAX_VALUE) {
          readOverdue();
        }
      } while (!ends(this));
    }

    private void read(int index) {
      Place place = places[index];
      if (place != null) {
        place.ready(batch);
      }
    }

    private void readOverdue() {
      long now = System.nanoTime();
      Place[] present = places;
      for (Place place : present) {
        if (place != null && place.link.deadline() <= now) {
          place.ready(batch);
        }
      }
    }

    private long nextDeadline() {
      long next = Long.MAX_VALUE;
      Place[] present = places;
      for (Place place : present) {
        if (place != null) {
          next = Math.min(next, place.link.deadline());
        }
      }
      return next;
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
      linux.close(descriptor);
      linux.close(wakeup);
    }
  }
}

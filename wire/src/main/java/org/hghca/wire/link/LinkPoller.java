package org.hghca.wire.link;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.linux.TimeSlice;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;

/**
 * The one thread that reads from all links of this process. It sleeps in the kernel while there are
 * no packets, and ends with the last link. Thread-safe.
 */
public final class LinkPoller {
  private static final ConditionLog LOG = ConditionLog.of(LinkPoller.class);
  private static final LinkPoller SHARED = new LinkPoller(Linux::system);

  /** So long the poller's thread waits for events at most where other threads read a link. */
  private static final long SOON = 500_000;

  /**
   * So long after another thread has slept at a link the poller's thread does not wake with it,
   * while the link is left to that thread.
   */
  private static final long DOZES = 10_000_000;

  /** So long it looks at most before it asks the system for events of other links. */
  private static final long LOOK = 500_000;

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  /** The open links; null where a slot is free. Replaced when it grows. */
  private volatile Place[] places = new Place[4];

  private final Supplier<SystemCalls> system;
  private int open;

  /** Of the running thread; null where there is none. */
  private volatile LinkEvents events;

  /**
   * @param system called when the first link is opened
   */
  LinkPoller(Supplier<SystemCalls> system) {
    this.system = system;
  }

  /** The poller of this process. */
  public static LinkPoller shared() {
    return SHARED;
  }

  /**
   * Reads a link from now on, until the returned handle is closed, which closes the link. Closing
   * waits until the user is not being called, unless the user itself closes.
   *
   * @param user gets the packets; it is called by one thread
   * @throws LinkException when the system has no descriptors for it; the link is closed then
   */
  public Attachment add(Link link, LinkUser user) {
    Place place;
    try {
      place = enter(link, user);
    } catch (RuntimeException | Error e) {
      link.close();
      throw e;
    }
    place.begin();
    return place;
  }

  private synchronized Place enter(Link link, LinkUser user) {
    if (events == null) {
      start();
    }
    int index = 0;
    while (index < places.length && places[index] != null) {
      index++;
    }
    Place place;
    try {
      place = new Place(index, link, user);
    } catch (RuntimeException | Error e) {
      if (open == 0) {
        events.wake(); // to end
      }
      throw e;
    }
    Place[] more = Arrays.copyOf(places, Math.max(places.length, index + 1));
    more[index] = place;
    places = more;
    open++;
    return place;
  }

  private void start() {
    LinkEvents first = new LinkEvents(system.get());
    try {
      Thread.ofPlatform().daemon().name("hghca-links").start(new Round(first));
    } catch (RuntimeException | Error e) {
      first.close();
      throw e;
    }
    events = first;
  }

  private synchronized void remove(Place place) {
    Place[] fewer = places.clone();
    fewer[place.index] = null;
    places = fewer;
    if (--open == 0) {
      events.wake();
    }
  }

  /** Whether the thread is to end; it has released everything then. */
  private synchronized boolean ends() {
    if (open > 0) {
      return false;
    }
    events.close();
    events = null;
    return true;
  }

  /** How the poller's thread learns what has come by a link. */
  private enum Watch {
    /** It is about to choose. */
    UNDECIDED,

    /** It looks after a moment, since others read the link. */
    LOOK,

    /** It sleeps until an event. */
    EVENT
  }

  /** A link that is read. */
  private final class Place implements LinkWatch, Attachment {
    private final int index;
    private final Link link;
    private final LinkUser user;

    /** Of the thread that reads it. */
    private final LinkEvents events;

    /** The descriptors of the link: an epoll instance, on which the poller's thread waits. */
    private final int descriptors;

    /** Whether it waits on them; used by that thread. */
    private boolean isArmed = true;

    /**
     * Held while the link is read and the user is called, and to close; fair, so that a close gets
     * its turn.
     */
    private final ReentrantLock busy = new ReentrantLock(true);

    private volatile boolean closed;

    /** Where a waiting thread sleeps; null before one has, and where there are no descriptors. */
    private volatile LinkSleep sleeping;

    private boolean cannotSleep;

    /** When one has slept there last. */
    private volatile long sleptAt = System.nanoTime() - DOZES;

    /** Whether a thread found another one asleep there, which is to give the link back. */
    private volatile boolean othersWait;

    /** Where threads other than the poller's read into. */
    private ReceiveBatch own;

    /** The user has got everything that had come by then. */
    private volatile long deliveredUntil = System.nanoTime();

    /** Whether it is to be read although nothing may have come. */
    private volatile boolean wanted;

    /** Whether no event tells the poller's thread what comes; used by that thread. */
    private boolean isAwake;

    /** How the poller's thread learns what comes: no other thread may end that unseen. */
    private volatile Watch watch = Watch.UNDECIDED;

    private final Polling polling;

    /** Of what the poller's thread reads. */
    private final Gaps gaps = new Gaps(PROCESSORS, System.nanoTime());

    Place(int index, Link link, LinkUser user) {
      this.index = index;
      this.link = link;
      this.user = user;
      this.events = LinkPoller.this.events;
      this.polling = new Polling(!link.sleeps(), System::nanoTime);
      this.descriptors = events.openSet(index);
    }

    @Override
    public void add(int descriptor, int wanted) {
      events.add(descriptors, descriptor, wanted, index);
    }

    @Override
    public void change(int descriptor, int wanted) {
      events.change(descriptors, descriptor, wanted, index);
    }

    @Override
    public void remove(int descriptor) {
      events.remove(descriptors, descriptor);
    }

    @Override
    public void pollSoon() {
      events.wake();
    }

    /** Opens the link, which has not been read before. */
    void begin() {
      busy.lock();
      try {
        link.open(this);
        if (link.sleeps()) {
          pollSoon();
        }
      } catch (RuntimeException | Error e) {
        close();
        throw e;
      } finally {
        busy.unlock();
      }
    }

    @Override
    public void read() {
      polling.looks();
      if (!link.mayHaveReceived() && !user.isOwing()) {
        return;
      }
      long now = System.nanoTime();
      // tryLock() alone would overtake a thread that waits to close.
      if (busy.isHeldByCurrentThread() || busy.hasQueuedThreads() || !busy.tryLock()) {
        return;
      }
      polling.finds(now);
      long before = link.deadline();
      try {
        if (!closed) {
          if (own == null) {
            own = new ReceiveBatch();
          }
          deliveredUntil = user.read(link, own, false) ? now : deliveredUntil;
        }
      } catch (RuntimeException | Error e) {
        failed(e);
      } finally {
        if (link.deadline() < before) {
          pollSoon(); // the poller's thread may sleep without a deadline
        }
        if (!link.hasEvents() && watch != Watch.LOOK) {
          pollSoon(); // or until an event that this read may have taken
        }
        busy.unlock();
      }
    }

    @Override
    public void beginPolling() {
      polling.begins();
    }

    @Override
    public void endPolling() {
      polling.ends();
      if (watch != Watch.EVENT) {
        pollSoon();
      }
    }

    @Override
    public boolean sleep(BooleanSupplier happened) {
      LinkSleep place = placeToSleep();
      if (place == null || closed || !place.enter()) {
        othersWait = place != null;
        return false;
      }
      sleptAt = System.nanoTime();
      if (link.sleeps() && watch != Watch.LOOK) {
        pollSoon(); // else the event that this thread takes does not wake the poller's, which would
        // sleep on while nothing tells it of what comes later
      }
      try {
        if (tellsWhatComes() && !happened.getAsBoolean() && place.sleep()) {
          link.woken();
        }
      } finally {
        sleptAt = System.nanoTime();
        polling.begins(); // the poller's thread leaves it to the caller further on
        place.leave();
        if (othersWait) {
          othersWait = false;
          endPolling();
        }
      }
      return true;
    }

    /**
     * Whether an event tells what comes from now on; where it may not, the caller reads at once.
     */
    private boolean tellsWhatComes() {
      if (!link.sleeps()) {
        return true;
      }
      if (!busy.tryLock()) {
        return false; // never wait here: who has it may wait for this thread to close
      }
      try {
        return !closed && user.sleep(link);
      } finally {
        busy.unlock();
      }
    }

    private LinkSleep placeToSleep() {
      LinkSleep place = sleeping;
      if (place != null || cannotSleep) {
        return place;
      }
      busy.lock();
      try {
        if (sleeping == null && !closed) {
          sleeping = new LinkSleep(events, descriptors, index);
        }
        return sleeping;
      } catch (LinkException e) {
        LOG.debug(About.NOTHING, "{}: waiting threads sleep no more there", link.description(), e);
        cannotSleep = true;
        return null;
      } finally {
        busy.unlock();
      }
    }

    @Override
    public void wakes() {
      LinkSleep place = sleeping;
      if (place != null) {
        place.wake();
      }
    }

    @Override
    public boolean hasDelivered(long time) {
      if (deliveredUntil - time >= 0) {
        return true;
      }
      wanted = true;
      pollSoon();
      return false;
    }

    /** Whether to read it now, whatever the system says of it. */
    boolean isDue(long now) {
      return wanted || link.deadline() <= now || isAwake && !isLeft();
    }

    /**
     * Has events wake the poller's thread, unless other threads read the link: then each packet
     * would wake it for nothing.
     *
     * @return how long that thread may wait until it looks at the link, in nanoseconds: 0 where
     *     something has come, {@code Long.MAX_VALUE} where an event tells
     */
    long sleep() {
      watch = Watch.UNDECIDED; // first: who stops to poll now looks here afterwards
      boolean left = isLeft();
      watch = left ? Watch.LOOK : Watch.EVENT;
      boolean hasCome = !left && link.sleeps() && !hasSleeping();
      isAwake = left || hasCome;
      boolean arms = !left || link.sleeps() && System.nanoTime() - sleptAt > DOZES;
      if (isArmed != arms) {
        arm(arms);
      }
      return hasCome ? 0 : left ? SOON : Long.MAX_VALUE;
    }

    /** Returns false where something has come already. */
    private boolean hasSleeping() {
      busy.lock();
      try {
        return closed || user.sleep(link);
      } finally {
        busy.unlock();
      }
    }

    private void arm(boolean arms) {
      busy.lock();
      try {
        if (!closed) {
          isArmed = arms;
          events.watch(descriptors, arms ? LinkWatch.READABLE : 0, index);
        }
      } finally {
        busy.unlock();
      }
    }

    private void failed(Throwable e) {
      LOG.error(
          About.NOTHING,
          "link {} failed; it continues with what comes next",
          link.description(),
          e);
    }

    /** Whether other threads read it now, or sleep for what comes. */
    boolean isLeft() {
      LinkSleep place = sleeping;
      return polling.isLeft() || place != null && place.isTaken();
    }

    /** Whether looking shows something that the poller's thread is to read. */
    boolean isReady() {
      return link.sleeps() && link.mayHaveReceived() && !isLeft();
    }

    /** Until when it is worth to look instead of sleeping. */
    long looksUntil() {
      return link.sleeps() && !isLeft() ? gaps.until() : Long.MIN_VALUE;
    }

    void ready(ReceiveBatch batch) {
      busy.lock();
      try {
        if (!closed) {
          wanted = false;
          long now = System.nanoTime();
          if (link.mayHaveReceived()) {
            gaps.arrived(now);
            polling.overtaken();
          }
          deliveredUntil = user.read(link, batch, true) ? now : deliveredUntil;
          gaps.taken(System.nanoTime());
        }
      } catch (RuntimeException | Error e) {
        failed(e);
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
      } finally {
        busy.unlock();
      }
      if (sleeping != null) {
        sleeping.close(); // who sleeps there may wait for this lock before
      }
      busy.lock();
      try {
        link.close();
        events.closeSet(descriptors);
      } finally {
        busy.unlock();
      }
      LinkPoller.this.remove(this);
    }
  }

  /** The loop of the thread, from its first link to its last. */
  private final class Round implements Runnable {
    private final LinkEvents events;
    private final ReceiveBatch batch = new ReceiveBatch();

    Round(LinkEvents events) {
      this.events = events;
    }

    @Override
    public void run() {
      // Programs poll completion queues: this thread must not wait for the end of their slices.
      TimeSlice.set(events.linux(), TimeSlice.SHORTEST);
      do {
        look();
        long due = nextDeadline();
        long wait = sleep();
        boolean looks = wait != Long.MAX_VALUE;
        long most = looks ? System.nanoTime() + wait : Long.MAX_VALUE;
        int ready = events.await(Math.min(due, most));
        for (int i = 0; i < ready; i++) {
          int index = events.place(i);
          if (index == LinkEvents.WAKE) {
            looks = true;
          } else {
            read(index);
          }
        }
        if (looks || due != Long.MAX_VALUE) {
          readOverdue();
        }
      } while (!ends());
    }

    /** Reads links that can be looked at without a system call, as long as that is worth it. */
    private void look() {
      long now = System.nanoTime();
      long end = now + LOOK;
      while (now < end && looks(now)) {
        Thread.yield(); // who is to get what comes may have no other processor
        now = System.nanoTime();
      }
    }

    /** Looks once; returns whether to look again. */
    private boolean looks(long now) {
      boolean again = false;
      Place[] present = places;
      for (Place place : present) {
        if (place != null && place.isReady()) {
          place.ready(batch);
          again = true;
        } else if (place != null && now < place.looksUntil()) {
          again = true;
        }
      }
      return again;
    }

    private void read(int index) {
      Place place = places[index];
      if (place == null) {
        return;
      }
      place.link.woken();
      if (!place.isLeft()) {
        place.ready(batch);
      }
    }

    /** How long it may wait for events, in nanoseconds; {@code Long.MAX_VALUE}: for ever. */
    private long sleep() {
      long wait = Long.MAX_VALUE;
      Place[] present = places;
      for (Place place : present) {
        wait = place == null ? wait : Math.min(wait, place.sleep());
      }
      return wait;
    }

    private void readOverdue() {
      long now = System.nanoTime();
      Place[] present = places;
      for (Place place : present) {
        if (place != null && place.isDue(now)) {
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
  }
}

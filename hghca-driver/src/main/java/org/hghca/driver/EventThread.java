package org.hghca.driver;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.abi.Eqe;
import org.hghca.provider.DeviceThread;
import org.hghca.uar.UarPage;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.VfioException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a device that reads its event queues and wakes the waiters. It waits for
 * interrupts, and looks now and then without one, so that a lost interrupt only delays. Where there
 * are no interrupts it looks at the event queues from time to time, and where there are no event
 * queues at the completion queues that were asked to tell. Twice a second it looks whether the card
 * is still there, which a program that only polls would never learn.
 */
final class EventThread implements EventQueue.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(EventThread.class);
  private static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** How many looks in vain make it look less often. */
  private static final int PATIENCE = 200;

  private final Card card;
  private final List<EventQueue> queues;
  private final UarPage uar;

  /** Null where event queues are looked at instead. */
  private final Interrupts interrupts;

  /** Those of the function, which tell also of its loss. */
  private final Interrupts given;

  private final EventTargets targets;
  private final DeviceThread thread;

  /** Completion queues to look at. */
  private final Set<WatchedQueue> watched = ConcurrentHashMap.newKeySet();

  /** Held while event queues are read. */
  private final ReentrantLock reading = new ReentrantLock();

  private volatile boolean stopping;
  private volatile boolean wanted;

  /** How often in a row it has found nothing. */
  private int vain;

  /** Under the lock of those who read. */
  private long ignored;

  /**
   * Starts a thread.
   *
   * @param queues the event queues; empty to look at completion queues
   * @param uar through which event queues are armed; not used when there are none
   * @param given the interrupts of the function, of which the event queues may have none
   */
  EventThread(
      Card card, List<EventQueue> queues, UarPage uar, Interrupts given, EventTargets targets) {
    this.card = card;
    this.queues = queues;
    this.uar = uar;
    this.given = given;
    this.interrupts = queues.isEmpty() || given.vectors() == 0 ? null : given;
    this.targets = targets;
    this.thread = new DeviceThread("events", card.function().locator().name(), this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread; it touches nothing any more when this returns. */
  void stop() {
    stopping = true;
    wake();
    thread.join();
  }

  private void wake() {
    thread.unpark();
    if (interrupts == null) {
      return;
    }
    try {
      interrupts.wake();
    } catch (VfioException e) {
      LOG.debug("{}: no wait to end: {}", card.function().locator(), e.getMessage());
    }
  }

  /** A completion queue was asked to tell. */
  void requested(WatchedQueue queue) {
    if (interrupts != null) {
      return;
    }
    if (queues.isEmpty()) {
      watched.add(queue);
    }
    wanted = true;
    thread.unpark();
  }

  /**
   * A completion queue may have something to tell.
   *
   * @param event whether the card has said so
   */
  void look(WatchedQueue queue, boolean event) {
    boolean again =
        switch (queue.look(event)) {
          case NOT_ARMED, TELL -> false;
          case NOTHING -> queues.isEmpty();
          case ARMED_AGAIN -> true;
        };
    if (again) {
      watched.add(queue);
    }
  }

  private void run() {
    try {
      long swept = card.time().nanoTime();
      while (!stopping && !card.health().isDead()) {
        if (round()) {
          vain = 0;
        } else {
          await();
        }
        // By the clock: interrupts and events of others may come all the time.
        long now = card.time().nanoTime();
        if (now - swept >= SWEEP_NANOS) {
          listen();
          card.checkPresence();
          sweep();
          swept = now;
        }
      }
      linger();
    } catch (Throwable e) { // whatever it is, somebody waits for this thread
      card.threadFailed("its event thread", e);
    }
  }

  /** Reads the event queues here and now: what the card has written before is told on return. */
  boolean read() {
    boolean found = false;
    reading.lock();
    try {
      for (EventQueue queue : queues) {
        if (queue.drain(this) > 0) {
          queue.arm(uar);
          found = true;
        }
      }
    } finally {
      reading.unlock();
    }
    return found;
  }

  /** Reads all there is; returns whether there was anything, so that there may be more. */
  private boolean round() {
    boolean found = read();
    // A copy: the set itself would show us again what is added while we look, without end.
    for (WatchedQueue queue : List.copyOf(watched)) {
      // Removed first: a thread that asks while we look adds it again.
      watched.remove(queue);
      look(queue, false);
      found |= !queues.isEmpty();
    }
    return found;
  }

  private void await() {
    if (interrupts != null) {
      interrupts.await(SWEEP_NANOS);
    } else if (queues.isEmpty() && watched.isEmpty()) {
      LockSupport.parkNanos(this, SWEEP_NANOS);
    } else {
      vain = wanted ? 0 : vain + 1;
      wanted = false;
      LockSupport.parkNanos(this, vain < PATIENCE ? STEP_NANOS : IDLE_STEP_NANOS);
    }
  }

  /** Hears that the function has failed or is wanted back, where nobody waits for interrupts. */
  private void listen() {
    if (interrupts == null) {
      long _ = given.await(0);
    }
  }

  /**
   * Of a dead device: the function is let go when it is wanted back, although its owner still has
   * it. The side that takes it away, such as the kernel for an unplugged card, waits for that.
   */
  private void linger() {
    while (!stopping) {
      long _ = given.await(0);
      LockSupport.parkNanos(this, SWEEP_NANOS);
    }
  }

  /** Finds what the card should have told. */
  private void sweep() {
    if (queues.isEmpty()) {
      return;
    }
    for (WatchedQueue queue : targets.completionQueues()) {
      if (queue.isArmedForAll()) {
        look(queue, false);
      }
    }
  }

  // ---- what the entries of event queues mean

  @Override
  public void event(int type, int subtype, int data) {
    if (type != Eqe.TYPE_COMPLETION) {
      if (!targets.asynchronous(type, subtype, data)) {
        ignore(type, subtype, data);
      }
      return;
    }
    WatchedQueue queue = targets.completionQueue(data);
    if (queue == null) {
      ignore(type, subtype, data);
    } else {
      look(queue, true);
    }
  }

  /** An object that was closed a moment ago is the ordinary reason. */
  private void ignore(int type, int subtype, int data) {
    if (ignored++ == 0) {
      LOG.debug(
          "{}: an event of type 0x{}, subtype 0x{}, for 0x{} is ignored, and so are others like it",
          card.function().locator(),
          Integer.toHexString(type),
          Integer.toHexString(subtype),
          Integer.toHexString(data));
    }
  }

  /** How many events could not be delivered. */
  long ignored() {
    return ignored;
  }
}

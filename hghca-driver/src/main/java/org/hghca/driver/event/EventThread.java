package org.hghca.driver.event;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.abi.Eqe;
import org.hghca.driver.card.Card;
import org.hghca.provider.DeviceThread;
import org.hghca.uar.UarPage;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.VfioException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a device that reads its event queues and wakes the waiters. It waits for
 * interrupts, and also polls periodically, so that a lost interrupt only causes a delay. Without
 * interrupts it polls the event queues, and without event queues it polls the armed completion
 * queues. Twice a second it checks that the card is still present, which a program that only polls
 * would never detect.
 */
public final class EventThread implements EventQueue.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(EventThread.class);
  private static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The number of empty polls after which it polls less often. */
  private static final int PATIENCE = 200;

  private final Card card;
  private final List<EventQueue> queues;
  private final UarPage uar;

  /** Null if event queues are polled instead. */
  private final Interrupts interrupts;

  /** The interrupts of the function, which also report its loss. */
  private final Interrupts given;

  private final EventTargets targets;
  private final DeviceThread thread;

  /** Completion queues to check. */
  private final Set<WatchedQueue> watched = ConcurrentHashMap.newKeySet();

  /** Held while event queues are read. */
  private final ReentrantLock reading = new ReentrantLock();

  private volatile boolean stopping;
  private volatile boolean wanted;

  /** The number of consecutive empty polls. */
  private int vain;

  /** Guarded by the readers' lock. */
  private long ignored;

  /**
   * Starts a thread.
   *
   * @param queues the event queues; empty to poll completion queues
   * @param uar through which event queues are armed; not used when there are none
   * @param given the interrupts of the function, which the event queues may not use
   */
  public EventThread(
      Card card, List<EventQueue> queues, UarPage uar, Interrupts given, EventTargets targets) {
    this.card = card;
    this.queues = queues;
    this.uar = uar;
    this.given = given;
    this.interrupts = queues.isEmpty() || given.vectors() == 0 ? null : given;
    this.targets = targets;
    this.thread = new DeviceThread("events", card.function().locator().name(), this::run);
  }

  public void start() {
    thread.start();
  }

  /** Ends the thread; it accesses nothing any more when this returns. */
  public void stop() {
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

  /**
   * A completion queue was armed. On return the card knows that, so that it reports an entry which
   * it writes from now on. Without locks.
   */
  public void requested(WatchedQueue queue) {
    awaitArming();
    if (interrupts != null) {
      return;
    }
    if (queues.isEmpty()) {
      watched.add(queue);
    }
    wanted = true;
    thread.unpark();
  }

  /** Waits until the card has received what was stored to arm completion queues. */
  private void awaitArming() {
    if (!queues.isEmpty() && uar.isPosted()) {
      card.awaitWrites();
    }
  }

  /**
   * A completion queue may have completions to report.
   *
   * @param event whether the card has raised an event
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
        // By time: interrupts and events of others may arrive constantly.
        long now = card.time().nanoTime();
        if (now - swept >= SWEEP_NANOS) {
          listen();
          card.checkPresence();
          sweep();
          swept = now;
        }
      }
      linger();
    } catch (Throwable e) { // on any failure, because other threads wait for this thread
      card.threadFailed("its event thread", e);
    }
  }

  /**
   * Reads the event queues on the calling thread: events that the card has written before are
   * delivered on return.
   */
  void settle() {
    read();
    if (!queues.isEmpty() && !watched.isEmpty()) {
      wake(); // it looks at those that were armed again
    }
  }

  private boolean read() {
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

  /** Reads all available events; returns whether there were any, so that there may be more. */
  private boolean round() {
    boolean found = read();
    // A copy: the set itself would endlessly return queues that are added during the iteration.
    List<WatchedQueue> toCheck = List.copyOf(watched);
    if (!toCheck.isEmpty()) {
      awaitArming(); // a completion before that raised no event, and is there
    }
    for (WatchedQueue queue : toCheck) {
      // Removed first: a thread that arms it meanwhile adds it again.
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

  /**
   * Detects that the function has failed or is requested back, if no thread waits for interrupts.
   */
  private void listen() {
    if (interrupts == null) {
      long _ = given.await(0);
    }
  }

  /**
   * On a dead device: the function is released when it is requested back, although its owner still
   * has it open. The removal, such as the kernel's for an unplugged card, waits for that.
   */
  private void linger() {
    while (!stopping) {
      long _ = given.await(0);
      LockSupport.parkNanos(this, SWEEP_NANOS);
    }
  }

  /** Finds completions that the card should have reported. */
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

  // ---- entries of event queues

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

  /** The usual reason is an object that was just closed. */
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

  /** Number of events that could not be delivered. */
  public long ignored() {
    return ignored;
  }
}

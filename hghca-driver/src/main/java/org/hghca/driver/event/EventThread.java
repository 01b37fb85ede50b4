package org.hghca.driver.event;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.abi.Eqe;
import org.hghca.driver.card.Card;
import org.hghca.driver.event.WatchedQueue.Look;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.provider.DeviceThread;
import org.hghca.uar.UarPage;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.VfioException;

/**
 * The thread of a device that reads its event queues and wakes the waiters. It waits for
 * interrupts, and also polls periodically, so that a lost interrupt only causes a delay. Without
 * interrupts it polls the event queues, and without event queues it polls the armed completion
 * queues. Twice a second it checks that the card is still present, which a program that only polls
 * would never detect.
 */
public final class EventThread implements EventQueue.Reader {
  private static final ConditionLog LOG = ConditionLog.of(EventThread.class);
  private static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long FINE_STEP_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** An event or an interrupt that follows a completion so much later is not missing. */
  private static final Duration GRACE = Duration.ofMillis(10);

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
  private final Runnable tick;
  private final DeviceThread thread;

  /** Completion queues to check. */
  private final Set<WatchedQueue> watched = ConcurrentHashMap.newKeySet();

  /** Completion queues with a completion that no event has reported yet. */
  private final Set<WatchedQueue> unreported = ConcurrentHashMap.newKeySet();

  private final LongAdder missed = new LongAdder();

  /** Completion events that were read; under {@link #reading}. */
  private long reported;

  /** Held while event queues are read. */
  private final ReentrantLock reading = new ReentrantLock();

  private volatile boolean stopping;
  private volatile boolean wanted;

  /** How the last wait for an interrupt ended, if nothing was read since. */
  private enum Wait {
    NONE,
    INTERRUPT,
    TIMEOUT
  }

  private Wait last = Wait.NONE;

  /** Completion events that were read before their interrupts, which may still come. */
  private long unconfirmed;

  /** The number of consecutive empty polls. */
  private int emptyPolls;

  /** Guarded by the readers' lock. */
  private long ignored;

  /**
   * Starts a thread.
   *
   * @param queues the event queues; empty to poll completion queues
   * @param uar through which event queues are armed; not used when there are none
   * @param given the interrupts of the function, which the event queues may not use
   * @param tick run twice a second or more often, under no lock; soon back
   */
  public EventThread(
      Card card,
      List<EventQueue> queues,
      UarPage uar,
      Interrupts given,
      EventTargets targets,
      Runnable tick) {
    this.card = card;
    this.queues = queues;
    this.uar = uar;
    this.given = given;
    this.interrupts = queues.isEmpty() || given.vectors() == 0 ? null : given;
    this.targets = targets;
    this.tick = tick;
    this.thread = new DeviceThread("events", card.function().locator().name(), this::run);
  }

  public void start() {
    if (interrupts != null) {
      interrupts.handleBy(this::handle);
    }
    thread.start();
  }

  /** Ends the thread; it accesses nothing any more when this returns, and neither do others. */
  public void stop() {
    reading.lock(); // no thread handles an interrupt
    try {
      stopping = true;
    } finally {
      reading.unlock();
    }
    wake();
    thread.join();
  }

  /**
   * Handles an interrupt on the thread that has raised it, which spares waking this one.
   *
   * @return false where this one must handle it
   */
  private boolean handle() {
    if (reading.isHeldByCurrentThread() || !reading.tryLock()) {
      return false;
    }
    try {
      if (!isRunning()) {
        return false;
      }
      int _ = read();
      return watched.isEmpty();
    } catch (Throwable e) { // as in the thread
      card.threadFailed("its event thread", e);
      return true;
    } finally {
      reading.unlock();
    }
  }

  private void wake() {
    thread.unpark();
    if (interrupts == null) {
      return;
    }
    try {
      interrupts.wake();
    } catch (VfioException e) {
      LOG.debug(About.device(card.function().locator()), "no wait to end: {}", e.getMessage());
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
  private Look look(WatchedQueue queue, boolean event) {
    Look look = queue.look(event);
    boolean again =
        switch (look) {
          case NOT_ARMED, TELL -> false;
          case NOTHING -> queues.isEmpty();
          case ARMED_AGAIN -> true;
        };
    if (again) {
      watched.add(queue);
    }
    return look;
  }

  private void run() {
    try {
      long swept = card.time().nanoTime();
      while (!stopping && !card.health().isDead()) {
        if (round()) {
          emptyPolls = 0;
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
        tick.run();
      }
      awaitRemoval();
    } catch (Throwable e) { // on any failure, because other threads wait for this thread
      card.threadFailed("its event thread", e);
    }
  }

  /**
   * Reads the event queues on the calling thread: events that the card has written before are
   * delivered on return.
   */
  void deliverAll() {
    read();
    if (!queues.isEmpty() && !watched.isEmpty()) {
      wake(); // it looks at those that were armed again
    }
  }

  /** Reads all available events; returns how many there were. */
  private int read() {
    int found = 0;
    reading.lock();
    try {
      for (EventQueue queue : queues) {
        int events = queue.drain(this);
        if (events > 0) {
          queue.arm(uar);
          found += events;
        }
      }
    } finally {
      reading.unlock();
    }
    return found;
  }

  /** Reads all available events after a wait for them; returns whether there were any. */
  private boolean readAwaited() {
    boolean found;
    long completions;
    reading.lock();
    try {
      long before = reported;
      found = read() > 0;
      completions = reported - before;
    } finally {
      reading.unlock();
    }
    if (last == Wait.TIMEOUT && completions > 0 && !isInterruptedLate()) {
      missed.add(completions);
    } else if (last == Wait.NONE && interrupts != null) {
      unconfirmed += completions;
    }
    last = Wait.NONE;
    return found;
  }

  /** Reads all available events; returns whether there were any, so that there may be more. */
  private boolean round() {
    boolean found = readAwaited();
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
      long start = System.nanoTime();
      if (interrupts.await(SWEEP_NANOS) != 0) {
        last = Wait.INTERRUPT;
        unconfirmed = 0;
      } else if (System.nanoTime() - start >= SWEEP_NANOS) {
        last = Wait.TIMEOUT;
        missed.add(unconfirmed);
        unconfirmed = 0;
      } else {
        last = Wait.NONE;
      }
    } else if (queues.isEmpty() && watched.isEmpty()) {
      LockSupport.parkNanos(this, SWEEP_NANOS);
    } else {
      emptyPolls = wanted ? 0 : emptyPolls + 1;
      wanted = false;
      LockSupport.parkNanos(this, emptyPolls < PATIENCE ? STEP_NANOS : IDLE_STEP_NANOS);
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
  private void awaitRemoval() {
    while (!stopping) {
      long _ = given.await(0);
      tick.run();
      LockSupport.parkNanos(this, SWEEP_NANOS);
    }
  }

  /** Finds completions that the card should have reported. */
  private void sweep() {
    if (queues.isEmpty()) {
      return;
    }
    boolean _ = readAwaited();
    for (WatchedQueue queue : targets.completionQueues()) {
      if (queue.isArmedForAll()) {
        // One that was polled came while the queue was armed, and needs no event.
        if (queue.hasWaiting()) {
          unreported.add(queue); // first: its event may come at any time
        }
        if (look(queue, false) != Look.TELL) {
          unreported.remove(queue);
        }
      }
    }
    countUnreported();
  }

  /** Counts completions that were found, and whose events do not come. */
  private void countUnreported() {
    long start = System.nanoTime();
    long grace = grace();
    while (!unreported.isEmpty() && isRunning()) {
      int _ = read();
      if (System.nanoTime() - start > grace) {
        unreported.retainAll(targets.completionQueues()); // others were closed meanwhile
        missed.add(unreported.size());
        unreported.clear();
      } else {
        LockSupport.parkNanos(this, FINE_STEP_NANOS);
      }
    }
  }

  /** Whether an interrupt follows events that were found without one. */
  private boolean isInterruptedLate() {
    long start = System.nanoTime();
    long grace = grace();
    for (long left = grace; left > 0 && isRunning(); left = grace - (System.nanoTime() - start)) {
      if (interrupts.await(left) != 0) {
        return true;
      }
    }
    return !isRunning();
  }

  private boolean isRunning() {
    return !stopping && !card.health().isDead();
  }

  /** How long an event or an interrupt may come after its completion, in nanoseconds. */
  private long grace() {
    return Math.min(card.time().stretch(GRACE).toNanos(), SWEEP_NANOS);
  }

  /** Number of completion events that the card did not report. */
  public long missed() {
    return missed.sum();
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
      reported++;
      look(queue, true);
      unreported.remove(queue);
    }
  }

  /** The usual reason is an object that was just closed. */
  private void ignore(int type, int subtype, int data) {
    if (ignored++ == 0) {
      LOG.debug(
          About.device(card.function().locator()),
          "an event of type 0x{}, subtype 0x{}, for 0x{} is ignored, and so are others like it",
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

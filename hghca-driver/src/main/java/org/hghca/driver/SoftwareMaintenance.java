package org.hghca.driver;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.hghca.provider.DeviceThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a device whose card neither times out nor flushes: it looks from time to time
 * whether sends move on. It sleeps while no queue pair could have any; otherwise it looks often
 * while some are outstanding. In between it rings requests that wait for others, for programs that
 * do not poll. Not started on a card that needs none.
 */
final class SoftwareMaintenance {
  private static final Logger LOG = LoggerFactory.getLogger(SoftwareMaintenance.class);
  private static final long PERIOD_NANOS = 10_000_000;
  private static final long IDLE_PERIOD_NANOS = 100_000_000;

  /** Between two looks at requests that wait, when the one before rang something. */
  private static final long SHORTEST_PAUSE_NANOS = 50_000;

  private static final int SEVERAL = 2;

  private final Card card;
  private final InFlightLimits inFlight;
  private final QpTable<? extends RecoveredQueuePair> queuePairs;
  private final Collection<? extends RecoveredCompletionQueue> completionQueues;
  private final DeviceThread thread;
  private volatile boolean stopping;

  /** Whether all queue pairs must be looked at without delay. */
  private volatile boolean wanted;

  /** Whether it does not look after requests that wait: there were none. */
  private volatile boolean resting;

  private long pause = SHORTEST_PAUSE_NANOS;

  /** Messages about time-outs that this pass has found. */
  private final List<String> timeOuts = new ArrayList<>();

  /** Whether the card has completed a send since the look before. */
  private boolean moved;

  /**
   * When the oldest doorbells were rung that were seen to complete in this look, and in the one
   * before: in ticks.
   */
  private int oldestMoved;

  private int oldestMovedBefore;

  /** How many time-outs of no known cause there were since the card has completed a send. */
  private int unexplained;

  /** Whether it was said that the card may be dead, and it has completed nothing since. */
  private boolean told;

  /**
   * The thread of a device, which is not started.
   *
   * @param queuePairs those that there are at any time
   * @param completionQueues likewise
   */
  SoftwareMaintenance(
      Card card,
      InFlightLimits inFlight,
      QpTable<? extends RecoveredQueuePair> queuePairs,
      Collection<? extends RecoveredCompletionQueue> completionQueues) {
    this.card = card;
    this.inFlight = inFlight;
    this.queuePairs = queuePairs;
    this.completionQueues = completionQueues;
    this.thread = new DeviceThread("maintenance", card.function().locator().name(), this::run);
    inFlight.onHold(this::wakeForHeld);
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

  /** There may be something to look at. Under any lock. */
  void wake() {
    wanted = true;
    thread.unpark();
  }

  /** A request is held back, which is often: who is awake finds it by himself. */
  private void wakeForHeld() {
    if (resting) {
      resting = false;
      thread.unpark();
    }
  }

  private void run() {
    try {
      long looked = card.time().nanoTime();
      Need need = Need.OFTEN;
      while (!stopping && !card.health().isDead()) {
        boolean went = goOn();
        long now = card.time().nanoTime();
        if (wanted || now - looked >= need.nanos) {
          wanted = false;
          need = look(now);
          looked = now;
        }
        rest(went, need.nanos - (card.time().nanoTime() - looked));
      }
    } catch (Throwable e) { // whatever it is, somebody waits for what this thread does
      card.threadFailed("its maintenance thread", e);
    }
  }

  /** Rests until something is wanted, or for so many nanoseconds of the card at most. */
  private void rest(boolean went, long most) {
    resting = true;
    VarHandle.fullFence(); // who holds a request back from here on wakes us
    boolean held = holds();
    if (held) {
      resting = false;
      pause = went ? SHORTEST_PAUSE_NANOS : Math.min(2 * pause, PERIOD_NANOS);
    } else {
      pause = SHORTEST_PAUSE_NANOS;
    }
    if (!wanted && !stopping) {
      if (held) {
        LockSupport.parkNanos(this, pause);
      } else if (most > IDLE_PERIOD_NANOS) {
        LockSupport.park(this);
      } else {
        card.time().parkNanos(this, most);
      }
    }
  }

  private boolean holds() {
    return queuePairs.first(qp -> qp.software().sends().holds()) != null;
  }

  /**
   * Rings requests that wait for others whose completions are not polled.
   *
   * @return whether there were any
   */
  private boolean goOn() {
    boolean went = false;
    if (holds()) {
      for (RecoveredCompletionQueue queue : completionQueues) {
        went |= queue.goOn();
      }
      inFlight.ringWaiting();
    }
    return went;
  }

  /** How soon to look again. */
  enum Need {
    NONE(Long.MAX_VALUE),
    SELDOM(IDLE_PERIOD_NANOS),
    OFTEN(PERIOD_NANOS);

    /** The longest time until then. */
    private final long nanos;

    Need(long nanos) {
      this.nanos = nanos;
    }
  }

  /**
   * Looks at all queue pairs.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  Need look(long now) {
    goOn();
    inFlight.nextTick();
    oldestMovedBefore = oldestMoved;
    oldestMoved = inFlight.tick() + 1; // none yet
    Need[] most = {Need.NONE};
    queuePairs.forEach(
        qp -> {
          Need need = look(qp, now);
          most[0] = need.compareTo(most[0]) > 0 ? need : most[0];
        });
    tell();
    return most[0];
  }

  /**
   * A send of some queue pair is complete. Called while looking.
   *
   * @param tick when it was rung
   */
  void moved(int tick) {
    moved = true;
    if (tick - oldestMoved < 0) {
      oldestMoved = tick;
    }
  }

  /** Whether what was rung before a tick, or in it, is still being completed. */
  boolean hasMovedBefore(int tick) {
    return oldestMoved - tick <= 0 || oldestMovedBefore - tick <= 0;
  }

  /**
   * A queue pair's sends have ended in a time-out. Called while looking.
   *
   * @param nanos how long nothing was completed
   * @param refused whether the peer has no receive
   */
  void timedOut(RecoveredQueuePair qp, long nanos, boolean refused) {
    unexplained += refused ? 0 : 1;
    timeOuts.add(
        "%s after %d ms%s"
            .formatted(
                qp.describe(), nanos / 1_000_000, refused ? ", its peer has no receive" : ""));
  }

  /** One line, however many there are: when the card is dead, all of them are. */
  private void tell() {
    if (moved) {
      unexplained = 0;
      told = false;
      moved = false;
    }
    if (timeOuts.isEmpty()) {
      return;
    }
    String found = String.join("; ", timeOuts);
    timeOuts.clear();
    if (unexplained < SEVERAL) {
      LOG.warn(
          "nothing was completed, which the driver treats as a time-out: {}; the card still"
              + " executes commands",
          found);
    } else if (!told) {
      told = true;
      LOG.warn(
          "nothing is completed any more, for any queue pair: {}; the card still executes commands,"
              + " but its data path may be dead, and only a reset fixes that: close all contexts of"
              + " {} and open it again",
          found,
          card.function().locator());
    }
  }

  private Need look(RecoveredQueuePair qp, long now) {
    try {
      return qp.software().look(now);
    } catch (RuntimeException e) {
      if (!card.health().isDead()) {
        LOG.warn("{}: {}", qp.describe(), e.getMessage());
      }
      return Need.SELDOM;
    }
  }
}

package org.hghca.driver.rtl.recovery;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.hghca.driver.card.Card;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.provider.DeviceThread;

/**
 * The thread of a device whose card neither times out nor flushes: it checks periodically whether
 * sends make progress. It sleeps while no queue pair can have any; it checks often while some are
 * outstanding. In between it rings requests that wait for others, for programs that do not poll.
 * Not started on a card that needs none.
 */
public final class SoftwareMaintenance {
  private static final ConditionLog LOG = ConditionLog.of(SoftwareMaintenance.class);
  private static final long PERIOD_NANOS = 10_000_000;
  private static final long IDLE_PERIOD_NANOS = 100_000_000;

  /** The interval between two checks of waiting requests, if the previous one rang any. */
  private static final long SHORTEST_PAUSE_NANOS = 50_000;

  private static final int SEVERAL = 2;

  private final Card card;
  private final DoorbellQuota inFlight;
  private final QpTable<? extends DriverQueuePair> queuePairs;
  private final Collection<? extends RecoveredCompletionQueue> completionQueues;
  private final DeviceThread thread;
  private volatile boolean stopping;

  /** Whether all queue pairs must be looked at without delay. */
  private volatile boolean wanted;

  /** Whether it does not check waiting requests, because there were none. */
  private volatile boolean resting;

  private long pause = SHORTEST_PAUSE_NANOS;

  /** Messages about time-outs in this pass. */
  private final List<String> timeOuts = new ArrayList<>();

  /** Whether the card has completed a send since the previous check. */
  private boolean moved;

  /**
   * The time, in ticks, of the oldest doorbells whose requests completed in this check, and in the
   * previous one.
   */
  private int oldestMoved;

  private int oldestMovedBefore;

  /** Number of time-outs without a known cause since the card last completed a send. */
  private int unexplained;

  /** Whether a possibly dead card was logged and has completed nothing since. */
  private boolean warned;

  /**
   * The thread of a device, which is not started.
   *
   * @param queuePairs the current queue pairs
   * @param completionQueues likewise
   */
  public SoftwareMaintenance(
      Card card,
      DoorbellQuota inFlight,
      QpTable<? extends DriverQueuePair> queuePairs,
      Collection<? extends RecoveredCompletionQueue> completionQueues) {
    this.card = card;
    this.inFlight = inFlight;
    this.queuePairs = queuePairs;
    this.completionQueues = completionQueues;
    this.thread = new DeviceThread("maintenance", card.function().locator().name(), this::run);
    inFlight.onHold(this::wakeForHeld);
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

  /** There may be work. Under any lock. */
  void wake() {
    wanted = true;
    thread.unpark();
  }

  /** A request is held back, which is frequent: an awake thread finds it itself. */
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
        boolean went = continueRequests();
        long now = card.time().nanoTime();
        if (wanted || now - looked >= need.nanos) {
          wanted = false;
          need = look(now);
          looked = now;
        }
        rest(went, need.nanos - (card.time().nanoTime() - looked));
      }
    } catch (Throwable e) { // on any failure, because other threads wait for this thread
      card.threadFailed("its maintenance thread", e);
    }
  }

  /** Sleeps until there is work, or for a maximum time in the card's nanoseconds. */
  private void rest(boolean went, long most) {
    resting = true;
    VarHandle.fullFence(); // a thread that holds a request back from here on wakes us
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
    return queuePairs.first(qp -> StateFlowBySoftware.of(qp).sends().holds()) != null;
  }

  /**
   * Rings requests that wait for others whose completions are not polled.
   *
   * @return whether there were any
   */
  private boolean continueRequests() {
    boolean went = false;
    if (holds()) {
      for (RecoveredCompletionQueue queue : completionQueues) {
        went |= queue.continueRequests();
      }
      inFlight.ringWaiting();
    }
    return went;
  }

  /** The time until the next check. */
  public enum Need {
    NONE(Long.MAX_VALUE),
    SELDOM(IDLE_PERIOD_NANOS),
    OFTEN(PERIOD_NANOS);

    /** The maximum time until then. */
    private final long nanos;

    Need(long nanos) {
      this.nanos = nanos;
    }
  }

  /**
   * Checks all queue pairs.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  public Need look(long now) {
    continueRequests();
    inFlight.nextTick();
    oldestMovedBefore = oldestMoved;
    oldestMoved = inFlight.tick() + 1; // none yet
    Need[] most = {Need.NONE};
    queuePairs.forEach(
        qp -> {
          Need need = look(qp, now);
          most[0] = need.compareTo(most[0]) > 0 ? need : most[0];
        });
    warn();
    return most[0];
  }

  /**
   * A send of some queue pair is complete. Called during a check.
   *
   * @param tick when it was rung
   */
  public void moved(int tick) {
    moved = true;
    if (tick - oldestMoved < 0) {
      oldestMoved = tick;
    }
  }

  /** Whether requests rung up to a tick are still being completed. */
  boolean hasMovedBefore(int tick) {
    return oldestMoved - tick <= 0 || oldestMovedBefore - tick <= 0;
  }

  /**
   * A queue pair's sends have ended in a time-out. Called during a check.
   *
   * @param nanos how long nothing was completed
   * @param refused whether the peer has no receive
   */
  void timedOut(DriverQueuePair qp, long nanos, boolean refused) {
    unexplained += refused ? 0 : 1;
    timeOuts.add(
        "%s after %d ms%s"
            .formatted(
                qp.describe(), nanos / 1_000_000, refused ? ", its peer has no receive" : ""));
  }

  /** One line for all of them: if the card is dead, all of them are affected. */
  private void warn() {
    if (moved) {
      unexplained = 0;
      warned = false;
      moved = false;
    }
    if (timeOuts.isEmpty()) {
      return;
    }
    String found = String.join("; ", timeOuts);
    timeOuts.clear();
    if (unexplained < SEVERAL) {
      LOG.warn(
          About.device(card.function().locator()),
          "nothing was completed, which the driver treats as a time-out: {}; the card still"
              + " executes commands",
          found);
    } else if (!warned) {
      warned = true;
      LOG.warn(
          About.device(card.function().locator()),
          "nothing is completed any more, for any queue pair: {}; the card still executes commands,"
              + " but its data path may be dead, and only a reset fixes that: close all contexts of"
              + " {} and open it again",
          found,
          card.function().locator());
    }
  }

  private Need look(DriverQueuePair qp, long now) {
    try {
      return StateFlowBySoftware.of(qp).look(now);
    } catch (RuntimeException e) {
      if (!card.health().isDead()) {
        LOG.warn(
            About.device(card.function().locator()).qpn(qp.number()),
            "maintenance of {} has failed: {}",
            qp.describe(),
            e.getMessage());
      }
      return Need.SELDOM;
    }
  }
}

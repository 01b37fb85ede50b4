package org.hghca.model;

import java.util.function.BooleanSupplier;
import org.hghca.model.card.StepBudget;

/**
 * The thread that rings the doorbell does the work: the part of the work that a register write of a
 * threaded simulation does on the writing thread. It does a small part at once, because waking
 * another thread would take longer than the work; the {@link SimulationThread} does the rest.
 *
 * <p>It never waits, because a driver rings under spin locks: neither for the simulation's lock
 * (the holder checks the queue when it releases the lock), nor for memory of another process.
 */
final class CallerRuns {
  /**
   * Steps for one write or one arrival, of each card that it leads to. Together with {@link #MOST}
   * they limit the work for a write to about 20 us; an arrival may take longer, see {@link
   * #AFTER_ARRIVAL}, and so do writes of others, see {@link #TURNS}. Work is counted and not timed,
   * so that a busy processor does not cut it short.
   */
  private static final int STEPS = 8;

  /**
   * How often a thread does this: again when others have rung since, who found the lock taken. To
   * wake a thread for them takes longer, above all where those that ring spin on all processors.
   */
  private static final int TURNS = 4;

  /**
   * The number of items that a card takes, receives and sends in a step: small, because other
   * threads may want the lock.
   */
  private static final int MOST = 16;

  /** Payload for one write; acknowledgements are not included. */
  private static final long BYTES = 64 * 1024;

  private static final StepBudget AFTER_DOORBELL = new StepBudget(MOST, false);

  /**
   * After packets have arrived: up to 256 items in a step, as that thread is under no spin lock of
   * a driver, and one step for many packets has one acknowledgement for them.
   */
  private static final StepBudget AFTER_ARRIVAL = new StepBudget(256, false);

  /** How often a thread takes what has arrived and does what follows, before others have a turn. */
  private static final int ROUNDS = 16;

  /** Payload after an arrival: the windows of several connections. */
  private static final long ARRIVAL_BYTES = 512 * 1024;

  /**
   * Commands are never given under a spin lock, and the thread that gives one waits for its end.
   */
  private static final StepBudget AFTER_COMMAND = new StepBudget(MOST, true);

  private final StepLock lock;
  private final Clock clock;
  private final Participants participants;
  private final SimulationThread loop;

  CallerRuns(StepLock lock, Clock clock, Participants participants, SimulationThread loop) {
    this.lock = lock;
    this.clock = clock;
    this.participants = participants;
    this.loop = loop;
  }

  /**
   * Work was queued for an HCA before this call: a part of it is done now, all of it soon.
   *
   * @param command whether it may have been a command
   */
  void workQueued(Participant hca, boolean command) {
    if (hca.mayWait() || isVirtual() && (command || participants.takesMonitorsNear(hca))) {
      loop.wake();
      return;
    }
    StepBudget budget = command ? AFTER_COMMAND : AFTER_DOORBELL;
    for (int turn = 0; turn < TURNS; turn++) {
      if (!lock.tryLockForStep()) {
        return; // the holder of the lock, or this thread itself in a step, will check the queue
      }
      boolean left;
      try {
        left =
            work(hca, budget, BYTES)
                || participants.hasArrived()
                || loop.oversleeps(participants.nextDeadline());
      } finally {
        lock.unlock(); // what was queued meanwhile is asked for below
        participants.deliverInterrupts(false); // under locks of the driver
      }
      if (left) {
        break;
      }
      if (!participants.hasRegisterWrites()) {
        return;
      }
    }
    loop.wake();
  }

  /** What has arrived from outside of this process. */
  interface Arrival {
    /**
     * Gives some of it to the HCA, under the lock.
     *
     * @return whether there is more, for after what follows
     */
    boolean receive();
  }

  /**
   * Something may have arrived from outside of this process: some of what follows is done on the
   * calling thread, the rest soon.
   *
   * @param waits whether to wait for the lock; otherwise nothing is done where another thread has
   *     it
   * @return whether everything that had arrived was given to the HCA
   */
  boolean arrived(Participant hca, Arrival arrival, boolean waits) {
    if (waits) {
      lock.lockForStep();
    } else if (isVirtual() && participants.takesMonitorsNear(hca) || !lock.tryLockForStep()) {
      return false;
    }
    boolean left;
    boolean more;
    try {
      int rounds = 0;
      do {
        more = arrival.receive();
        left = follow(hca);
      } while (more && !left && ++rounds < ROUNDS);
    } finally {
      loop.release(!isVirtual()); // whoever handles an interrupt may have to park
    }
    if (left) {
      loop.wake();
    }
    return !more;
  }

  /** Does something while no step is in progress. */
  boolean exclusively(BooleanSupplier action) {
    lock.lock();
    try {
      return action.getAsBoolean();
    } finally {
      loop.release(false);
    }
  }

  private boolean follow(Participant hca) {
    return hca.mayWait()
        || work(hca, AFTER_ARRIVAL, ARRIVAL_BYTES)
        || participants.hasArrived()
        || loop.oversleeps(participants.nextDeadline());
  }

  /**
   * A virtual thread that waits for a monitor in a step would leave its carrier and keep the
   * simulation's lock; threads that spin on all carriers until the step is done would never let it
   * run again. So it does only steps that take none: no commands, nothing of a card or a link that
   * has some.
   */
  private static boolean isVirtual() {
    return Thread.currentThread().isVirtual();
  }

  /**
   * Does steps until no work is left or the budget is used up, and sends what they have left for a
   * network; returns whether there is more to do.
   */
  private boolean work(Participant hca, StepBudget budget, long most) {
    long bytes = participants.bytesSent();
    int steps = 0;
    boolean left = false;
    long now = clock.nanos();
    while (!left && participants.stepNear(hca, now, budget)) {
      if (budget.most() > MOST) {
        now = clock.nanos(); // the steps of a doorbell are too short to read a clock for each
      }
      left = ++steps == STEPS || participants.bytesSent() - bytes > most || lock.isWaitedFor();
    }
    return Participants.flush(hca) || left;
  }
}

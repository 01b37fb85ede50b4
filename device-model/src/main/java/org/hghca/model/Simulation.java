package org.hghca.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.PacketPool;

/**
 * What drives a set of software HCAs and the cables and hubs between them: their lock, their clock
 * and the threads that do their work. Thread-safe.
 *
 * <p>A threaded simulation follows the system's clock. The thread that writes a register does some
 * of the resulting work; the simulation's thread does the rest while there are HCAs in it. An
 * inline simulation stands still until a register is written or its clock is advanced, and does the
 * resulting work on the calling thread before it returns: it is deterministic.
 *
 * <p>Steps are done under one lock. A thread that queues work never waits for the lock: the holder
 * checks the queue after releasing it.
 */
public final class Simulation implements AutoCloseable {
  private static final Map<String, Simulation> NAMED = new ConcurrentHashMap<>();
  private static final Simulation SHARED = new Simulation(null, false);

  private final String name;
  private final boolean inline;
  private final StepLock lock = new StepLock();
  private final PacketPool packets = new PacketPool();
  private final SimulationThread loop;
  private final CallerRuns callerRuns;
  private final Participants participants = new Participants();
  private final Clock clock;

  /** By their names. */
  private final Map<String, SoftwareHca> hcas = new ConcurrentHashMap<>();

  private boolean running;

  private Simulation(String name, boolean inline) {
    this.name = name;
    this.inline = inline;
    this.clock = new Clock(inline);
    this.loop = inline ? null : new SimulationThread(lock, clock, participants);
    this.callerRuns = inline ? null : new CallerRuns(lock, clock, participants, loop);
  }

  /**
   * Makes an inline simulation that locators can join by {@code sim=name} until it is closed.
   *
   * @throws VfioException {@code BUSY} when there is one of that name
   */
  public static Simulation inline(String name) {
    Simulation simulation = new Simulation(name, true);
    if (NAMED.putIfAbsent(name, simulation) != null) {
      throw new VfioException(Reason.BUSY, "there is a simulation '%s' already".formatted(name));
    }
    return simulation;
  }

  /**
   * The simulation of a name.
   *
   * @throws VfioException {@code NOT_FOUND} when there is none
   */
  public static Simulation named(String name) {
    Simulation simulation = NAMED.get(name);
    if (simulation == null) {
      throw new VfioException(
          Reason.NOT_FOUND,
          "there is no simulation '%s': make it with Simulation.inline(\"%s\") first"
              .formatted(name, name));
    }
    return simulation;
  }

  /** An inline simulation for a single HCA. */
  static Simulation unnamed() {
    return new Simulation(null, true);
  }

  /** The threaded simulation of this process. */
  static Simulation shared() {
    return SHARED;
  }

  /** Whether everything happens on the calling thread. */
  public boolean isInline() {
    return inline;
  }

  /** The time since the simulation began, or since some moment of the system's clock. */
  public Duration now() {
    lock.lock();
    try {
      return Duration.ofNanos(clock.nanos());
    } finally {
      release();
    }
  }

  Clock clock() {
    return clock;
  }

  /**
   * Advances the time of an inline simulation; events in between happen at their own time.
   *
   * @throws IllegalStateException if the simulation is threaded
   */
  public void advance(Duration time) {
    checkInline();
    lock.lock();
    try {
      long target = clock.nanos() + time.toNanos();
      runHere();
      for (long next = participants.nextDeadline();
          next <= target;
          next = participants.nextDeadline()) {
        clock.advanceTo(next);
        runHere();
      }
      clock.advanceTo(target);
    } finally {
      release();
    }
  }

  /**
   * Does all work of an inline simulation that is due now. Register writes do this automatically.
   *
   * @throws IllegalStateException if the simulation is threaded
   */
  public void run() {
    checkInline();
    lock.lock();
    try {
      runHere();
    } finally {
      release();
    }
  }

  private void checkInline() {
    if (!inline) {
      throw new IllegalStateException("a threaded simulation follows the system's clock");
    }
  }

  private void runHere() {
    if (running) {
      return; // a write from an interrupt handler: the current step will see it
    }
    running = true;
    try {
      while (participants.step(clock.nanos())) {
        // until nothing is left to do
      }
    } finally {
      running = false;
    }
  }

  /**
   * Begins a register write, which {@link #endWrite} ends on the same thread. In an inline
   * simulation no other thread runs between the queueing of a write and the resulting work, because
   * that work may access memory that is confined to the writing thread.
   */
  void beginWrite() {
    if (inline) {
      lock.lock();
    }
  }

  /**
   * Ends a register write.
   *
   * @param queued whether something was queued for the HCA
   * @param command whether it may have been a command
   */
  void endWrite(Participant hca, boolean queued, boolean command) {
    if (!inline) {
      if (queued) {
        callerRuns.workQueued(hca, command);
      }
      return;
    }
    try {
      if (queued) {
        runHere();
      }
    } finally {
      release();
    }
  }

  /** Makes the simulation process a change between two steps. */
  void kick() {
    if (inline) {
      run();
    } else {
      loop.wake();
    }
  }

  /** Runs while no step is in progress. */
  void exclusively(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      release();
    }
  }

  Participants participants() {
    return participants;
  }

  StepLock lock() {
    return lock;
  }

  /** Releases the lock, and raises the interrupts that became pending under it. */
  private void release() {
    if (!inline) {
      loop.release(false);
      return;
    }
    lock.unlock();
    if (!lock.isHeldHere()) {
      participants.deliverInterrupts(false);
    }
  }

  PacketPool packets() {
    return packets;
  }

  /** The HCA of a name, if there is one. */
  public Optional<SoftwareHca> hca(String name) {
    return Optional.ofNullable(hcas.get(name));
  }

  /**
   * An HCA joins, and its port is plugged in.
   *
   * @throws VfioException {@code BUSY} when there is one of its name, or the cable has no free plug
   */
  void join(SoftwareHca hca, SimulatedCard card, Optional<Plug> plug) {
    exclusively(
        () -> {
          if (hcas.containsKey(hca.name())) {
            throw new VfioException(
                Reason.BUSY,
                "software HCA '%s' is in use: close it first, or use another name"
                    .formatted(hca.name()));
          }
          plug.ifPresent(into -> plug(card, into));
          hcas.put(hca.name(), hca);
          participants.add(card);
          if (!inline) {
            loop.start();
          }
        });
  }

  private void plug(SimulatedCard card, Plug plug) {
    switch (plug) {
      case Plug.IntoCable into ->
          card.plug(
              participants.segment(Cable.class, into.cable(), named -> new Cable(named, this)),
              into.disturbance());
      case Plug.IntoHub into ->
          card.plug(
              participants.segment(Hub.class, into.hub(), named -> new Hub(named, this)),
              into.disturbance());
      case Plug.IntoNetwork into -> card.plug(into.link(), into.disturbance(), clock, callerRuns);
    }
  }

  void leave(SoftwareHca hca, SimulatedCard card) {
    exclusively(
        () -> {
          hcas.remove(hca.name());
          participants.remove(card);
        });
    if (!inline) {
      loop.wake();
    }
  }

  /** Releases the name. HCAs in the simulation stay in it until they are closed. */
  @Override
  public void close() {
    if (name != null) {
      NAMED.remove(name, this);
    }
  }
}

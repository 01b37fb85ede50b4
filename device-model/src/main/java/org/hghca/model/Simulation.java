package org.hghca.model;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.hghca.model.hca.StepBudget;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.PacketPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A set of software HCAs, the cables and hubs between them and their clock, driven by one function
 * that does a step of each. Thread-safe.
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
  private static final Logger LOG = LoggerFactory.getLogger(Simulation.class);
  private static final Map<String, Simulation> NAMED = new ConcurrentHashMap<>();
  private static final Simulation SHARED = new Simulation(null, false);

  private final String name;
  private final boolean inline;
  private final StepLock lock = new StepLock();
  private final PacketPool packets = new PacketPool();
  private final SimulationThread loop;
  private final CallerRuns callerRuns;

  /** Replaced, never modified, so that a step may iterate over it while an HCA joins or leaves. */
  private volatile List<SoftwareHca> hcas = List.of();

  /** The cables and hubs with a plug in; replaced, never modified. */
  private List<Segment> segments = List.of();

  /** Nanoseconds of an inline simulation's clock. */
  private long virtualNow;

  private boolean running;

  private Simulation(String name, boolean inline) {
    this.name = name;
    this.inline = inline;
    this.loop = inline ? null : new SimulationThread(this);
    this.callerRuns = inline ? null : new CallerRuns(this, loop);
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
      return Duration.ofNanos(nanos());
    } finally {
      release();
    }
  }

  long nanos() {
    return inline ? virtualNow : System.nanoTime();
  }

  /**
   * The clock of captures, in nanoseconds: since 1970, or since the beginning of an inline
   * simulation. To be asked under the lock, or when nothing advances the time.
   */
  LongSupplier captureClock() {
    if (inline) {
      return this::nanos;
    }
    Instant now = Instant.now();
    long offset =
        TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - System.nanoTime();
    return () -> offset + System.nanoTime();
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
      long target = virtualNow + time.toNanos();
      runHere();
      for (long next = nextDeadline(); next <= target; next = nextDeadline()) {
        virtualNow = Math.max(virtualNow, next);
        runHere();
      }
      virtualNow = target;
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
      while (step()) {
        // until nothing is left to do
      }
    } finally {
      running = false;
    }
  }

  /** Does a step of each cable, hub and HCA; returns whether one worked. Under the lock. */
  boolean step() {
    long now = nanos();
    boolean worked = false;
    for (int i = 0; i < segments.size(); i++) {
      worked |= segments.get(i).step(now);
    }
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      worked |= step(present.get(i), now, StepBudget.WHOLE);
    }
    return worked;
  }

  /**
   * Does a step of an HCA, of its cable or hub and of the HCAs that it joins, except for HCAs that
   * may wait for another process; returns whether one had something to do. Under the lock.
   */
  boolean stepNear(SoftwareHca hca, long now, StepBudget budget) {
    boolean worked = hca.stepSegment(now);
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      SoftwareHca near = present.get(i);
      if (near.isNear(hca) && !near.mayWait()) {
        worked |= step(near, now, budget);
      }
    }
    return worked;
  }

  private static boolean step(SoftwareHca hca, long now, StepBudget budget) {
    try {
      return hca.step(now, budget);
    } catch (RuntimeException | Error e) {
      hca.failed(e);
      LOG.error("software HCA '{}' failed in a step; it continues with the next", hca.name(), e);
      return true;
    }
  }

  /** Bytes of payload that all HCAs have sent. Under the lock. */
  long bytesSent() {
    long bytes = 0;
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      bytes += present.get(i).bytesSent();
    }
    return bytes;
  }

  /** Whether packets have arrived that wait for a step. Under the lock. */
  boolean hasArrived() {
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).hasArrived()) {
        return true;
      }
    }
    return false;
  }

  /** When the next step is due if nothing happens before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline() {
    long next = Long.MAX_VALUE;
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      next = Math.min(next, present.get(i).nextDeadline());
    }
    for (int i = 0; i < segments.size(); i++) {
      next = Math.min(next, segments.get(i).nextDeadline());
    }
    return next;
  }

  boolean hasRegisterWrites() {
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).hasRegisterWrites()) {
        return true;
      }
    }
    return false;
  }

  boolean isEmpty() {
    return hcas.isEmpty();
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
  void endWrite(SoftwareHca hca, boolean queued, boolean command) {
    if (!inline) {
      if (queued) {
        callerRuns.ring(hca, command);
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

  /**
   * Something has arrived from outside of this process: some of what follows is done on the calling
   * thread, the rest soon.
   *
   * @param delivery gives it to the HCA, under the lock
   */
  void arrived(SoftwareHca hca, Runnable delivery) {
    boolean left;
    lock.lockForStep();
    try {
      delivery.run();
      left = callerRuns.follow(hca);
    } finally {
      release();
    }
    if (left) {
      loop.wake();
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

  StepLock lock() {
    return lock;
  }

  /**
   * Releases the lock, raises the interrupts that became pending under it, and processes work that
   * was queued meanwhile: threads that found the lock taken rely on that.
   */
  void release() {
    lock.unlock();
    if (lock.isHeldHere()) {
      return; // in a step
    }
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      present.get(i).tellInterrupts();
    }
    if (!inline && hasRegisterWrites()) {
      loop.wake();
    }
  }

  PacketPool packets() {
    return packets;
  }

  /** The HCA of a name, if there is one. */
  public Optional<SoftwareHca> hca(String name) {
    return hcas.stream().filter(hca -> hca.name().equals(name)).findFirst();
  }

  void join(SoftwareHca hca, Optional<Plug> plug) {
    exclusively(
        () -> {
          if (hca(hca.name()).isPresent()) {
            throw new VfioException(
                Reason.BUSY,
                "software HCA '%s' is in use: close it first, or use another name"
                    .formatted(hca.name()));
          }
          plug.ifPresent(into -> plug(hca, into));
          List<SoftwareHca> more = new ArrayList<>(hcas);
          more.add(hca);
          hcas = List.copyOf(more);
          hcas.forEach(SoftwareHca::watchPort);
          if (!inline) {
            loop.start();
          }
        });
  }

  private void plug(SoftwareHca hca, Plug plug) {
    switch (plug) {
      case Plug.IntoCable into ->
          hca.plug(segment(Cable.class, into.cable(), Cable::new), into.disturbance());
      case Plug.IntoHub into ->
          hca.plug(segment(Hub.class, into.hub(), Hub::new), into.disturbance());
      case Plug.IntoNetwork into -> hca.plug(into.link(), into.disturbance());
    }
  }

  /** The cable or hub of a name, made for the first HCA that names it. */
  private Segment segment(
      Class<? extends Segment> kind, String called, BiFunction<String, Simulation, Segment> maker) {
    for (Segment segment : segments) {
      if (kind.isInstance(segment) && segment.name().equals(called)) {
        return segment;
      }
    }
    Segment segment = maker.apply(called, this);
    List<Segment> more = new ArrayList<>(segments);
    more.add(segment);
    segments = List.copyOf(more);
    return segment;
  }

  void leave(SoftwareHca hca) {
    exclusively(
        () -> {
          hca.unplug();
          segments = segments.stream().filter(segment -> !segment.isLoose()).toList();
          hca.dropArrived();
          hcas = hcas.stream().filter(other -> other != hca).toList();
          hcas.forEach(SoftwareHca::watchPort);
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

package org.hghca.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.model.link.PacketPool;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Some software HCAs, the cables between them and their clock, driven by one function that does a
 * step of each. Thread-safe.
 *
 * <p>A threaded simulation follows the system's clock; one thread drives it while there are HCAs in
 * it. An inline simulation stands still until a register is written or its clock is moved, and does
 * what follows from that on the calling thread before it returns: it is deterministic.
 */
public final class Simulation implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Simulation.class);
  private static final Map<String, Simulation> NAMED = new ConcurrentHashMap<>();
  private static final Simulation SHARED = new Simulation(null, false);

  private final String name;
  private final boolean inline;
  private final ReentrantLock lock = new ReentrantLock();
  private final PacketPool packets = new PacketPool();
  private final Loop loop;

  /** Replaced, never changed, so that a step may go through it while an HCA joins or leaves. */
  private volatile List<SoftwareHca> hcas = List.of();

  /** Those with a plug in; replaced, never changed. */
  private List<Cable> cables = List.of();

  /** Nanoseconds of an inline simulation's clock. */
  private long virtualNow;

  private boolean running;

  private Simulation(String name, boolean inline) {
    this.name = name;
    this.inline = inline;
    this.loop = inline ? null : new Loop(this);
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

  /** An inline simulation for one HCA alone. */
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
      lock.unlock();
    }
  }

  long nanos() {
    return inline ? virtualNow : System.nanoTime();
  }

  /**
   * Lets time pass in an inline simulation; what falls due on the way happens at its own time.
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
      lock.unlock();
    }
  }

  /**
   * Does what an inline simulation can do without time passing. Register writes do so by
   * themselves.
   *
   * @throws IllegalStateException if the simulation is threaded
   */
  public void run() {
    checkInline();
    lock.lock();
    try {
      runHere();
    } finally {
      lock.unlock();
    }
  }

  private void checkInline() {
    if (!inline) {
      throw new IllegalStateException("a threaded simulation follows the system's clock");
    }
  }

  private void runHere() {
    if (running) {
      return; // a write out of an interrupt handler: the step under way will see it
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

  /** Does a step of each cable and HCA; returns whether one had something to do. Under the lock. */
  boolean step() {
    long now = nanos();
    boolean worked = false;
    for (int i = 0; i < cables.size(); i++) {
      worked |= cables.get(i).step(now);
    }
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      SoftwareHca hca = present.get(i);
      try {
        worked |= hca.step(now);
      } catch (RuntimeException | Error e) {
        hca.failed(e);
        LOG.error("software HCA '{}' failed in a step; it goes on with the next", hca.name(), e);
        worked = true;
      }
    }
    return worked;
  }

  /** When the next step is due without anything happening before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline() {
    long next = Long.MAX_VALUE;
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      next = Math.min(next, present.get(i).nextDeadline());
    }
    for (int i = 0; i < cables.size(); i++) {
      next = Math.min(next, cables.get(i).nextDeadline());
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
   * simulation no other thread comes between the queueing of a write and the work that follows from
   * it: that work may touch memory that only the writing thread can reach.
   */
  void beginWrite() {
    if (inline) {
      lock.lock();
    }
  }

  /**
   * Ends a register write.
   *
   * @param queued whether something was queued for an HCA
   */
  void endWrite(boolean queued) {
    if (!inline) {
      if (queued) {
        loop.wake();
      }
      return;
    }
    try {
      if (queued) {
        runHere();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has what was changed between two steps seen to. */
  void kick() {
    if (inline) {
      run();
    } else {
      loop.kick();
    }
  }

  /** Runs while no step is under way. */
  void exclusively(Runnable action) {
    if (inline) {
      lock.lock();
    } else {
      loop.lock(lock);
    }
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  ReentrantLock lock() {
    return lock;
  }

  PacketPool packets() {
    return packets;
  }

  /** The HCA of a name, where there is one. */
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
          plug.map(this::cable).ifPresent(hca::plug);
          List<SoftwareHca> more = new ArrayList<>(hcas);
          more.add(hca);
          hcas = List.copyOf(more);
          hcas.forEach(SoftwareHca::watchPort);
          if (!inline) {
            loop.start();
          }
        });
  }

  /** The cable of a name; whoever names it first says what it does to packets. */
  private Cable cable(Plug plug) {
    for (Cable cable : cables) {
      if (cable.name().equals(plug.cable())) {
        return cable;
      }
    }
    Cable cable = new Cable(plug.cable(), plug.disturbance(), this);
    List<Cable> more = new ArrayList<>(cables);
    more.add(cable);
    cables = List.copyOf(more);
    return cable;
  }

  void leave(SoftwareHca hca) {
    exclusively(
        () -> {
          hca.cable()
              .ifPresent(
                  cable -> {
                    hca.unplug();
                    if (cable.isLoose()) {
                      cables = cables.stream().filter(other -> other != cable).toList();
                    }
                  });
          hca.dropArrived();
          hcas = hcas.stream().filter(other -> other != hca).toList();
          hcas.forEach(SoftwareHca::watchPort);
        });
    if (!inline) {
      loop.wake();
    }
  }

  /** Gives the name free. HCAs that are in the simulation stay in it until they are closed. */
  @Override
  public void close() {
    if (name != null) {
      NAMED.remove(name, this);
    }
  }
}

package org.hghca.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.hghca.model.card.StepBudget;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The software HCAs of a simulation and the cables and hubs between them, as one function that does
 * a step of each. Used under the simulation's lock, except where a method says otherwise.
 */
final class Participants {
  private static final Logger LOG = LoggerFactory.getLogger(Participants.class);

  /** Replaced, never modified, so that a step may iterate over it while an HCA joins or leaves. */
  private volatile List<SoftwareHca> hcas = List.of();

  /** The cables and hubs with a plug in; replaced, never modified. */
  private List<Segment> segments = List.of();

  /** The HCA of a name, if there is one. Under any lock. */
  Optional<SoftwareHca> hca(String name) {
    return hcas.stream().filter(hca -> hca.name().equals(name)).findFirst();
  }

  boolean isEmpty() {
    return hcas.isEmpty();
  }

  /** Whether one of the HCAs requires a thread that does not sleep. */
  boolean keepAwake() {
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).spins()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Adds an HCA and plugs it in.
   *
   * @param simulation that of these
   * @throws VfioException {@code BUSY} when there is one of its name
   */
  void add(SoftwareHca hca, Optional<Plug> plug, Simulation simulation) {
    if (hca(hca.name()).isPresent()) {
      throw new VfioException(
          Reason.BUSY,
          "software HCA '%s' is in use: close it first, or use another name".formatted(hca.name()));
    }
    plug.ifPresent(into -> plug(hca, into, simulation));
    List<SoftwareHca> more = new ArrayList<>(hcas);
    more.add(hca);
    hcas = List.copyOf(more);
    hcas.forEach(SoftwareHca::watchPort);
  }

  private void plug(SoftwareHca hca, Plug plug, Simulation simulation) {
    switch (plug) {
      case Plug.IntoCable into ->
          hca.plug(segment(Cable.class, into.cable(), Cable::new, simulation), into.disturbance());
      case Plug.IntoHub into ->
          hca.plug(segment(Hub.class, into.hub(), Hub::new, simulation), into.disturbance());
      case Plug.IntoNetwork into -> hca.plug(into.link(), into.disturbance());
    }
  }

  /** The cable or hub of a name, made for the first HCA that names it. */
  private Segment segment(
      Class<? extends Segment> kind,
      String name,
      BiFunction<String, Simulation, Segment> maker,
      Simulation simulation) {
    for (Segment segment : segments) {
      if (kind.isInstance(segment) && segment.name().equals(name)) {
        return segment;
      }
    }
    Segment segment = maker.apply(name, simulation);
    List<Segment> more = new ArrayList<>(segments);
    more.add(segment);
    segments = List.copyOf(more);
    return segment;
  }

  /** Removes an HCA, and its cable or hub when that was the last plug. */
  void remove(SoftwareHca hca) {
    hca.unplug();
    segments = segments.stream().filter(segment -> !segment.isLoose()).toList();
    hca.dropArrived();
    hcas = hcas.stream().filter(other -> other != hca).toList();
    hcas.forEach(SoftwareHca::watchPort);
  }

  /** Does a step of each cable, hub and HCA; returns whether one worked. */
  boolean step(long now) {
    boolean worked = false;
    for (int i = 0; i < segments.size(); i++) {
      worked |= segments.get(i).step(now);
    }
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      worked |= step(present.get(i), now, StepBudget.WHOLE);
      worked |= flush(present.get(i));
    }
    return worked;
  }

  /**
   * Does a step of an HCA, of its cable or hub and of the HCAs that it joins, except for HCAs that
   * may wait for another process; returns whether one had something to do. What is for a network
   * leaves when the HCA is flushed: several steps make one batch.
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
      failed(hca, "a step", e);
      return true;
    }
  }

  /**
   * Sends what steps of an HCA have left for a network.
   *
   * @return whether another step has something to do, see {@link SoftwareHca#flush}
   */
  static boolean flush(SoftwareHca hca) {
    try {
      return hca.flush();
    } catch (RuntimeException | Error e) {
      failed(hca, "sending to its network", e);
      return false; // with true, a link that fails each time would keep the thread busy
    }
  }

  /** A failure of an HCA ends neither the others nor the thread, which may be an application's. */
  private static void failed(SoftwareHca hca, String in, Throwable cause) {
    hca.failed(cause);
    LOG.error("software HCA '{}' failed in {}; it continues with the next", hca.name(), in, cause);
  }

  /** Bytes of payload that all HCAs have sent. */
  long bytesSent() {
    long bytes = 0;
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      bytes += present.get(i).bytesSent();
    }
    return bytes;
  }

  /** Whether packets have arrived that wait for a step. */
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

  /** Whether register writes wait for a step. Under any lock. */
  boolean hasRegisterWrites() {
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).hasRegisterWrites()) {
        return true;
      }
    }
    return false;
  }

  /** Signals the hosts the interrupts that were raised in steps. Without the lock. */
  void deliverInterrupts() {
    List<SoftwareHca> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      present.get(i).deliverInterrupts();
    }
  }
}

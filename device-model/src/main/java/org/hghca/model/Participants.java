package org.hghca.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.hghca.model.card.StepBudget;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The software HCAs of a simulation and the cables and hubs between them, as one function that does
 * a step of each. Used under the simulation's lock, except where a method says otherwise.
 */
final class Participants {
  private static final Logger LOG = LoggerFactory.getLogger(Participants.class);

  /** Replaced, never modified, so that a step may iterate over it while an HCA joins or leaves. */
  private volatile List<Participant> hcas = List.of();

  /** The cables and hubs with a plug in; replaced, never modified. */
  private List<Segment> segments = List.of();

  boolean isEmpty() {
    return hcas.isEmpty();
  }

  /** Whether one of the HCAs requires a thread that does not sleep. */
  boolean keepAwake() {
    List<Participant> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).spins()) {
        return true;
      }
    }
    return false;
  }

  void add(Participant hca) {
    List<Participant> more = new ArrayList<>(hcas);
    more.add(hca);
    hcas = List.copyOf(more);
    hcas.forEach(Participant::watchPort);
  }

  /** The cable or hub of a name, made for the first HCA that names it. */
  Segment segment(Class<? extends Segment> kind, String name, Function<String, Segment> maker) {
    for (Segment segment : segments) {
      if (kind.isInstance(segment) && segment.name().equals(name)) {
        return segment;
      }
    }
    Segment segment = maker.apply(name);
    List<Segment> more = new ArrayList<>(segments);
    more.add(segment);
    segments = List.copyOf(more);
    return segment;
  }

  /** Removes an HCA, and its cable or hub when that was the last plug. */
  void remove(Participant hca) {
    hca.leave();
    segments = segments.stream().filter(segment -> !segment.isLoose()).toList();
    hcas = hcas.stream().filter(other -> !other.equals(hca)).toList();
    hcas.forEach(Participant::watchPort);
  }

  /** Does a step of each cable, hub and HCA; returns whether one worked. */
  boolean step(long now) {
    boolean worked = false;
    for (int i = 0; i < segments.size(); i++) {
      worked |= segments.get(i).step(now);
    }
    List<Participant> present = hcas;
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
  boolean stepNear(Participant hca, long now, StepBudget budget) {
    Segment segment = hca.segment();
    boolean worked = segment != null && segment.step(now);
    List<Participant> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      Participant near = present.get(i);
      boolean isNear = near.equals(hca) || segment != null && segment.equals(near.segment());
      if (isNear && !near.mayWait()) {
        worked |= step(near, now, budget);
      }
    }
    return worked;
  }

  private static boolean step(Participant hca, long now, StepBudget budget) {
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
   * @return whether another step has something to do, see {@link Participant#flush}
   */
  static boolean flush(Participant hca) {
    try {
      return hca.flush();
    } catch (RuntimeException | Error e) {
      failed(hca, "sending to its network", e);
      return false; // with true, a link that fails each time would keep the thread busy
    }
  }

  /** A failure of an HCA ends neither the others nor the thread, which may be an application's. */
  private static void failed(Participant hca, String in, Throwable cause) {
    hca.failed(cause);
    LOG.error("software HCA '{}' failed in {}; it continues with the next", hca.name(), in, cause);
  }

  /** Bytes of payload that all HCAs have sent. */
  long bytesSent() {
    long bytes = 0;
    List<Participant> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      bytes += present.get(i).bytesSent();
    }
    return bytes;
  }

  /** Whether packets have arrived that wait for a step. */
  boolean hasArrived() {
    List<Participant> present = hcas;
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
    List<Participant> present = hcas;
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
    List<Participant> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i).hasRegisterWrites()) {
        return true;
      }
    }
    return false;
  }

  /** Signals the hosts the interrupts that were raised in steps. Without the lock. */
  void deliverInterrupts() {
    List<Participant> present = hcas;
    for (int i = 0; i < present.size(); i++) {
      present.get(i).deliverInterrupts();
    }
  }
}

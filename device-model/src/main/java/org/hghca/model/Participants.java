package org.hghca.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.model.card.StepBudget;

/**
 * The software HCAs of a simulation and the cables and hubs between them, as one function that does
 * a step of each. Used under the simulation's lock, except where a method says otherwise.
 */
final class Participants {
  private static final ConditionLog LOG = ConditionLog.of(Participants.class);

  /** Replaced, never modified, so that a step may iterate over it while an HCA joins or leaves. */
  private volatile Participant[] hcas = {};

  /** The cables and hubs with a plug in; replaced, never modified. */
  private List<Segment> segments = List.of();

  /** Steps that have worked. */
  private long steps;

  boolean isEmpty() {
    return hcas.length == 0;
  }

  /** Whether one of the HCAs requires a thread that does not sleep. */
  boolean keepAwake() {
    for (Participant hca : hcas) {
      if (hca.spins()) {
        return true;
      }
    }
    return false;
  }

  void add(Participant hca) {
    Participant[] more = Arrays.copyOf(hcas, hcas.length + 1);
    more[hcas.length] = hca;
    become(more);
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
    become(Arrays.stream(hcas).filter(other -> !other.equals(hca)).toArray(Participant[]::new));
  }

  private void become(Participant[] present) {
    hcas = present;
    for (Participant hca : present) {
      hca.watchPort();
    }
  }

  /** Does a step of each cable, hub and HCA; returns whether one worked. */
  boolean step(long now) {
    boolean worked = false;
    for (int i = 0; i < segments.size(); i++) {
      worked |= segments.get(i).step(now);
    }
    for (Participant hca : hcas) {
      worked |= step(hca, now, StepBudget.WHOLE);
      worked |= flush(hca);
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
    for (Participant near : hcas) {
      if (isNear(near, hca, segment) && !near.mayWait()) {
        worked |= step(near, now, budget);
      }
    }
    return worked;
  }

  private static boolean isNear(Participant near, Participant hca, Segment segment) {
    return near.equals(hca) || segment != null && segment.equals(near.segment());
  }

  /** Whether {@link #stepNear} may take a monitor. Under any lock. */
  boolean takesMonitorsNear(Participant hca) {
    Segment segment = hca.segment();
    for (Participant near : hcas) {
      if (isNear(near, hca, segment) && near.takesMonitors()) {
        return true;
      }
    }
    return false;
  }

  private boolean step(Participant hca, long now, StepBudget budget) {
    try {
      boolean worked = hca.step(now, budget);
      steps += worked ? 1 : 0;
      return worked;
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
    LOG.error(
        About.device(hca.name()),
        "the software HCA failed in {}; it continues with the next",
        in,
        cause);
  }

  /** Bytes of payload that all HCAs have sent. */
  long bytesSent() {
    long bytes = 0;
    for (Participant hca : hcas) {
      bytes += hca.bytesSent();
    }
    return bytes;
  }

  /** Steps of an HCA that have done something. */
  long stepsDone() {
    return steps;
  }

  /** Whether packets have arrived that wait for a step. */
  boolean hasArrived() {
    for (Participant hca : hcas) {
      if (hca.hasArrived()) {
        return true;
      }
    }
    return false;
  }

  /** When the next step is due if nothing happens before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline() {
    long next = Long.MAX_VALUE;
    for (Participant hca : hcas) {
      next = Math.min(next, hca.nextDeadline());
    }
    for (int i = 0; i < segments.size(); i++) {
      next = Math.min(next, segments.get(i).nextDeadline());
    }
    return next;
  }

  /** Whether register writes wait for a step. Under any lock. */
  boolean hasRegisterWrites() {
    for (Participant hca : hcas) {
      if (hca.hasRegisterWrites()) {
        return true;
      }
    }
    return false;
  }

  /** Signals the hosts the interrupts that were raised in steps. Without the lock. */
  void deliverInterrupts(boolean here) {
    for (Participant hca : hcas) {
      hca.deliverInterrupts(here);
    }
  }
}

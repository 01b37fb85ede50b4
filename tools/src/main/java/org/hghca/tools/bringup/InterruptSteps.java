package org.hghca.tools.bringup;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * The interrupts of events, counted: a driver that looks by itself twice a second hides one that
 * does not come.
 */
final class InterruptSteps {
  private static final int BYTES = 8192;
  private static final int LENGTH = 64;
  private static final int EVENTS = 8;

  /** An event may share an interrupt with an asynchronous one, and a device may repeat itself. */
  private static final int MOST_PER_EVENT = 2;

  private final Driver driver;

  InterruptSteps(Driver driver) {
    this.driver = driver;
  }

  List<Step> steps() {
    return List.of(
        Step.of(
            "event.interrupt",
            "each event raises one interrupt, of the vector of its queue",
            "PCI Express Base Specification, MSI-X; interface document, 3.2.4 (EQ context, vector);"
                + " virtio 1.2, 4.1.5.1 (MSI-X vectors)",
            "MSI-X: the address and data of the vector, its mask bits; the vector in the EQ context"
                + " and when the card looks at it again",
            this::interrupts,
            "event.cq"));
  }

  private void interrupts(Observation o) {
    Context device = driver.right();
    if (!driver.abilities().events()) {
      throw Observation.skip("this card raises no events: the driver polls");
    }
    OptionalInt of = device.interruptOf(0);
    if (of.isEmpty()) {
      throw driver.isWithoutInterrupts()
          ? Observation.skip("events=poll or interrupts=none: the driver uses no interrupts")
          : Observation.notJudged("the function has no interrupt vectors that the driver can use");
    }
    int vector = of.getAsInt();
    o.expect("%d events, an interrupt of vector %d for each".formatted(EVENTS, vector));
    long[] before = device.interrupts();
    int woken = 0;
    long slowest = 0;
    try (Pair pair = Pair.notified(driver, BYTES).connect()) {
      for (int i = 0; i < EVENTS; i++) {
        long start = System.nanoTime();
        woken += event(o, pair) ? 1 : 0;
        slowest = Math.max(slowest, System.nanoTime() - start);
      }
    }
    long[] fired = device.interrupts();
    Arrays.setAll(fired, i -> fired[i] - before[i]);
    o.saw(
        "%d events, the slowest after %.1f ms; interrupts: %s"
            .formatted(woken, slowest / 1e6, describe(fired)));
    judge(o, fired, vector);
    o.check(woken == EVENTS, "%d of %d events came".formatted(woken, EVENTS));
  }

  private boolean event(Observation o, Pair pair) {
    CompletionQueue queue = pair.right().queue();
    Duration limit = driver.options().limit();
    pair.right().pair().postReceive(new ReceiveRequest(1).into(pair.right().memory(), 0, LENGTH));
    queue.requestNotify(false);
    pair.left().pair().postSend(new SendRequest(1).send().sge(pair.left().memory(), 0, LENGTH));
    try {
      boolean woken = queue.channel().orElseThrow().await(limit).isPresent();
      o.check(
          pair.await(pair.right(), limit) && pair.await(pair.left(), limit),
          "a message gave no completion");
      return woken;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Observation.skip("interrupted");
    }
  }

  private static String describe(long[] fired) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < fired.length; i++) {
      if (fired[i] != 0) {
        parts.add("%d of vector %d".formatted(fired[i], i));
      }
    }
    return parts.isEmpty() ? "none" : String.join(", ", parts);
  }

  /** None, those of another vector, some and then no more, and too many are four faults. */
  private static void judge(Observation o, long[] fired, int vector) {
    long own = fired[vector];
    long others = Arrays.stream(fired).sum() - own;
    if (own == 0) {
      o.check(
          others == 0,
          "the interrupts are those of another vector: %s instead of vector %d"
              .formatted(describe(fired), vector));
      throw new StepFailedException(
          "no interrupt of vector %d: the driver found the events by itself".formatted(vector));
    }
    o.check(
        own >= EVENTS,
        "%d interrupts of vector %d and then no more: the driver found the other events by itself"
            .formatted(own, vector));
    o.check(
        own <= (long) MOST_PER_EVENT * EVENTS,
        "%d interrupts of vector %d for %d events".formatted(own, vector, EVENTS));
  }
}

package org.hghca.tools.bringup.verbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * The interrupts of events, counted: a driver that looks by itself twice a second hides one that
 * does not come.
 */
public final class InterruptSteps {
  private static final int BYTES = 8192;
  private static final int LENGTH = 64;
  private static final int EVENTS = 8;

  private static final int TURNING_EVENTS = 2 * Driver.EVENT_RING + 20;

  /** So many events in a row without an interrupt are none by chance. */
  private static final int MOST_SILENT = 5;

  /** In which the driver has read what there is and waits again. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  private static final Duration BUDGET = Duration.ofSeconds(10);

  /** An event may share an interrupt with an asynchronous one, and a device may repeat itself. */
  private static final int MOST_PER_EVENT = 2;

  private final Driver driver;

  public InterruptSteps(Driver driver) {
    this.driver = driver;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "event.interrupt",
                "events raise interrupts, of the vector of their queue",
                "PCI Express Base Specification, MSI-X; interface document, 3.2.4 (EQ context,"
                    + " vector); virtio 1.2, 4.1.5.1 (MSI-X vectors)",
                "MSI-X: the address and data of the vector, its mask bits; the vector in the EQ"
                    + " context and when the card looks at it again",
                this::interrupts,
                Capability.EVENTS)
            .giving(Capability.INTERRUPTS),
        Step.of(
            "event.ring",
            "the event queue turns",
            "interface document, 3.2.4 (EQ context: size; owner bit of the EQE)",
            "how the EQ's position turns at its last entry",
            this::turn,
            Capability.INTERRUPTS));
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
    o.expect("%d events, with interrupts of vector %d".formatted(EVENTS, of.getAsInt()));
    raise(o, EVENTS, driver.stretch(BUDGET));
  }

  /** More events than twice the entries of an event queue. */
  private void turn(Observation o) {
    if (!driver.abilities().eventQueues()) {
      throw Observation.skip("this device has no event queues: its interrupts are the events");
    }
    o.expect("%,d events, with interrupts to the last".formatted(TURNING_EVENTS));
    Duration budget = driver.stretch(BUDGET);
    int events = raise(o, TURNING_EVENTS, budget);
    if (events < TURNING_EVENTS) {
      throw Observation.notJudged(
          "%,d of %,d events within %s: the event queue has not turned twice"
              .formatted(events, TURNING_EVENTS, budget));
    }
  }

  /**
   * Has the device raise events one after another. An event that comes while the driver still reads
   * the event queue has no interrupt of its own; several in a row with pauses between them have.
   *
   * @return how many there were within the budget
   */
  private int raise(Observation o, int most, Duration budget) {
    Context device = driver.right();
    int vector = device.interruptOf(0).orElseThrow();
    long[] before = device.interrupts();
    long start = System.nanoTime();
    long slowest = 0;
    int events = 0;
    int silent = 0;
    try (Pair pair = Pair.notified(driver, BYTES).connect()) {
      while (events < most
          && silent < MOST_SILENT
          && (events < EVENTS || System.nanoTime() - start < budget.toNanos())) {
        long fired = device.interrupts()[vector];
        long posted = System.nanoTime();
        o.check(event(o, pair), "event %,d did not come".formatted(events + 1));
        slowest = Math.max(slowest, System.nanoTime() - posted);
        events++;
        if (device.interrupts()[vector] > fired) {
          silent = 0;
        } else if (++silent > 1) {
          LockSupport.parkNanos(driver.stretch(PAUSE).toNanos());
        }
      }
    }
    long[] fired = device.interrupts();
    Arrays.setAll(fired, i -> fired[i] - before[i]);
    o.saw(
        "%,d events, the slowest after %.1f ms; interrupts: %s"
            .formatted(events, slowest / 1e6, describe(fired)));
    judge(o, fired, vector, events, silent == MOST_SILENT);
    return events;
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
  private static void judge(
      Observation o, long[] fired, int vector, int events, boolean endedSilent) {
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
        !endedSilent,
        "%,d interrupts of vector %d for %,d events and then no more: the driver found the others by"
                .formatted(own, vector, events)
            + " itself");
    o.check(
        own <= (long) MOST_PER_EVENT * events,
        "%,d interrupts of vector %d for %,d events".formatted(own, vector, events));
  }
}

package org.hghca.tools.bringup;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.DriverParameter;

/**
 * A session: all steps in their order, on one board. Used once.
 *
 * <p>It always ends, independent of the card's behaviour: everything runs on a separate thread, and
 * a step that exceeds the time limit in the options is abandoned with all later steps. Interrupting
 * its thread ends it after the current step, which waits for no answer any more.
 */
public final class Bringup {
  /** Default time limit of the current step, and of releasing the board. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private final BringupOptions options;
  private final Target board;
  private final Driver driver;
  private final List<Step> steps = new ArrayList<>();
  private final Map<String, StepResult> done = new HashMap<>();
  private StepSpan spans;
  private String stoppedAt = "";
  private String brokenAt = "";
  private boolean lost;
  private boolean opened = true;
  private boolean interrupted;

  /** A session that has not started. */
  public Bringup(BringupOptions options) {
    this.options = options;
    if (VirtioBoard.isVirtio(options)) {
      VirtioBoard virtio = new VirtioBoard(options);
      board = virtio;
      driver = new Driver(virtio);
      virtioSteps(virtio);
    } else {
      Board card = new Board(options);
      board = card;
      driver = new Driver(card);
      cardSteps(card);
    }
  }

  private void cardSteps(Board card) {
    PciSteps pci = new PciSteps(card);
    steps.addAll(pci.ofEveryFunction());
    steps.addAll(pci.ofCard());
    steps.addAll(new HcrSteps(card).steps());
    steps.addAll(new QuerySteps(card).steps());
    steps.addAll(new TableSteps(card).steps());
    steps.addAll(new QueueSteps(card).steps());
    steps.addAll(new RawDataSteps(card).steps());
    verbsSteps(new PathSteps(driver).ofDatagram(), "profile", "hca.close");
    steps.addAll(new StopSteps(card, driver).steps());
  }

  private void virtioSteps(VirtioBoard virtio) {
    steps.addAll(new PciSteps(virtio).ofEveryFunction());
    steps.addAll(new VirtioSteps(virtio).steps());
    steps.addAll(new NetSteps(virtio).steps());
    steps.addAll(new RoceSteps(virtio).steps());
    verbsSteps(new PathSteps(driver).ofEveryStage(), RoceSteps.OBJECTS, RoceSteps.CLOSE);
  }

  /**
   * Adds the steps that go through the driver.
   *
   * @param path those of the data path without a loop
   * @param needs ids of the steps that must have passed before
   */
  private void verbsSteps(List<Step> path, String... needs) {
    DriverSteps first = new DriverSteps(driver, needs);
    steps.addAll(first.steps());
    steps.addAll(path);
    steps.add(first.loopStep());
    steps.addAll(new DataSteps(driver).steps());
    steps.addAll(new ErrorSteps(driver).steps());
    steps.addAll(new InterruptSteps(driver).steps());
    steps.addAll(new SpeedSteps(driver).steps());
  }

  /** Whether it is about a card; otherwise it is about a virtio device. */
  public boolean isOfCard() {
    return board instanceof Board;
  }

  /** All steps in their order. */
  public List<Step> steps() {
    return List.copyOf(steps);
  }

  /**
   * Runs the steps. No behaviour of a card makes this throw.
   *
   * @param listener gets each step as it ends
   */
  public BringupReport run(Consumer<StepResult> listener) {
    Instant started = Instant.now();
    long start = System.nanoTime();
    spans = new StepSpan(board.locator(), steps);
    Set<String> chosen = chosen();
    List<StepResult> results = new ArrayList<>();
    ExecutorService thread =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("bringup").factory());
    try {
      for (Step step : steps) {
        StepResult result = result(step, chosen, thread);
        done.put(step.id(), result);
        results.add(result);
        listener.accept(result);
      }
      if (!lost) {
        close(thread);
      }
    } finally {
      if (lost) {
        thread.execute(this::giveBackLate);
        thread.shutdown();
      } else {
        thread.shutdownNow();
      }
    }
    return new BringupReport(
        board.locator().without(DriverParameter.TRACE.key()).toString(),
        board.abilities() == null ? "" : board.abilities().name(),
        started,
        System.nanoTime() - start,
        results,
        outcome());
  }

  private Outcome outcome() {
    if (!stoppedAt.isEmpty()) {
      return Outcome.STOPPED;
    }
    if (opened && has(Verdict.FAIL)) {
      return Outcome.FAILED;
    }
    if (interrupted) {
      return Outcome.INTERRUPTED;
    }
    if (!opened) {
      return Outcome.NOT_OPENED;
    }
    return has(Verdict.NOT_JUDGED) ? Outcome.INCOMPLETE : Outcome.PASSED;
  }

  private boolean has(Verdict verdict) {
    return done.values().stream().anyMatch(result -> result.verdict() == verdict);
  }

  /** The steps that the options name, with those that they need. */
  private Set<String> chosen() {
    Set<String> chosen = new HashSet<>();
    for (Step step : steps.reversed()) {
      if (options.only().isEmpty() || options.only().contains(step.id())) {
        chosen.add(step.id());
      }
      if (chosen.contains(step.id())) {
        chosen.addAll(step.needs());
      }
    }
    chosen.removeAll(options.skip());
    return chosen;
  }

  private StepResult result(Step step, Set<String> chosen, ExecutorService thread) {
    Optional<StepResult> untried = untried(step, chosen);
    if (untried.isPresent()) {
      return untried.get();
    }
    Observation seen = new Observation();
    long start = System.nanoTime();
    Verdict verdict = Verdict.PASS;
    String complaint = "";
    try {
      guarded(thread, () -> step.body().run(seen));
      if (!seen.warnings().isEmpty()) {
        verdict = Verdict.WARN;
        complaint = String.join("; ", seen.warnings());
      }
    } catch (StepSkippedException e) {
      verdict = Verdict.SKIP;
      complaint = e.getMessage();
    } catch (StepNotJudgedException e) {
      verdict = Verdict.NOT_JUDGED;
      complaint = e.getMessage();
    } catch (StepFailedException e) {
      verdict = Verdict.FAIL;
      complaint = e.getMessage();
    } catch (RuntimeException e) {
      verdict = Verdict.FAIL;
      complaint = complaint(e);
      if (CardStoppedException.isBehind(e)) {
        stoppedAt = step.id();
      }
    }
    if (verdict == Verdict.FAIL && stoppedAt.isEmpty() && brokenAt.isEmpty() && isBroken(thread)) {
      brokenAt = step.id();
    }
    if (step.id().equals("open") && verdict == Verdict.FAIL) {
      opened = false;
    }
    long nanos = System.nanoTime() - start;
    spans.record(step, verdict, start);
    return new StepResult(
        step,
        verdict,
        seen.expected(),
        seen.seen(),
        complaint,
        seen.comparisons(),
        seen.measurements(),
        board.takeCommands(),
        nanos);
  }

  /** The result of a step that is not run; empty if it is to run. */
  private Optional<StepResult> untried(Step step, Set<String> chosen) {
    if (!chosen.contains(step.id())) {
      return untried(
          step,
          Verdict.SKIP,
          options.skip().contains(step.id()) ? "skipped by --skip" : "not selected by --only");
    }
    if (interrupted) {
      return untried(step, Verdict.SKIP, "interrupted");
    }
    if (step.destructive() && !options.destructive()) {
      return untried(step, Verdict.SKIP, "it can stop the card: --destructive runs it");
    }
    if (!stoppedAt.isEmpty()) {
      return untried(step, Verdict.NOT_JUDGED, "the card stopped answering at " + stoppedAt);
    }
    if (!brokenAt.isEmpty() && isOnDriver(step) && !step.id().equals(DriverSteps.CLOSE)) {
      return untried(step, Verdict.NOT_JUDGED, "the device failed at " + brokenAt);
    }
    for (String need : step.needs()) {
      StepResult result = done.get(need);
      if (result.verdict() == Verdict.FAIL) {
        return untried(step, Verdict.NOT_JUDGED, "needs " + need + ", which failed");
      }
      if (!result.verdict().isGood()) {
        // The step reports why: the first reason is used.
        return untried(step, result.verdict(), result.reason());
      }
    }
    return Optional.empty();
  }

  private static Optional<StepResult> untried(Step step, Verdict verdict, String reason) {
    return Optional.of(
        new StepResult(
            step,
            verdict,
            List.of(),
            List.of(),
            reason,
            List.of(),
            Optional.empty(),
            List.of(),
            0));
  }

  /** Whether a step goes through the driver. */
  private boolean isOnDriver(Step step) {
    return step.needs().contains(DriverSteps.OPEN)
        || steps.stream().anyMatch(other -> step.needs().contains(other.id()) && isOnDriver(other));
  }

  /** Whether a failure has left a device that no longer works. */
  private boolean isBroken(ExecutorService thread) {
    if (lost) {
      return true;
    }
    boolean[] broken = {true};
    try {
      guarded(thread, () -> broken[0] = driver.isBroken());
    } catch (RuntimeException e) {
      // It is.
    }
    return broken[0];
  }

  /** Runs an action on the thread of the session, up to the time limit. */
  private void guarded(ExecutorService thread, Runnable work) {
    Future<?> future = thread.submit(work);
    try {
      await(future);
    } catch (TimeoutException e) {
      lost = true;
      // After an interrupt the step had little time, which says nothing about the card.
      throw interrupted
          ? Observation.skip("interrupted, and the step did not end within " + GRACE)
          : new CardStoppedException("the step did not end: an access to the card does not return");
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException failure -> throw failure;
        // A mapped register that is gone faults; the JVM reports that as an InternalError.
        case InternalError fault ->
            throw new CardStoppedException(
                "an access to a register faulted: " + fault.getMessage());
        case Error error -> throw error;
        default -> throw new IllegalStateException(e.getCause());
      }
    }
  }

  /** Waits up to the time limit, and only briefly once it is interrupted. */
  private void await(Future<?> future) throws TimeoutException, ExecutionException {
    while (true) {
      Duration limit = interrupted ? GRACE : options.patience();
      try {
        future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        return;
      } catch (InterruptedException e) {
        interrupted = true;
        board.waits().end();
      }
    }
  }

  private static String complaint(RuntimeException e) {
    String message = e.getMessage();
    boolean known = e.getClass().getName().startsWith("org.hghca.");
    return known && message != null ? message : e.toString();
  }

  /** Releases everything; if that does not end, the card has stopped. */
  private void close(ExecutorService thread) {
    try {
      guarded(thread, this::giveBack);
    } catch (RuntimeException e) {
      if (stoppedAt.isEmpty()) {
        stoppedAt = "the end";
      }
    }
  }

  /** An access that did not return has returned after the session. */
  private void giveBackLate() {
    try {
      giveBack();
    } catch (RuntimeException e) {
      // The session had already ended and reported its result.
    }
  }

  private void giveBack() {
    try {
      driver.close();
    } finally {
      board.close();
    }
  }
}

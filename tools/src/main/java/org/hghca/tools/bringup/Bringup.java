package org.hghca.tools.bringup;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.data.DataTests;
import org.hghca.tools.bringup.register.HcrSteps;
import org.hghca.tools.bringup.register.PciSteps;
import org.hghca.tools.bringup.register.QuerySteps;
import org.hghca.tools.bringup.register.QueueSteps;
import org.hghca.tools.bringup.register.RawDataSteps;
import org.hghca.tools.bringup.register.StopSteps;
import org.hghca.tools.bringup.register.TableSteps;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.step.StepNotJudgedException;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.StepSkippedException;
import org.hghca.tools.bringup.step.StepWatcher;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.bringup.verbs.DataSteps;
import org.hghca.tools.bringup.verbs.DriverSteps;
import org.hghca.tools.bringup.verbs.ErrorSteps;
import org.hghca.tools.bringup.verbs.InterruptSteps;
import org.hghca.tools.bringup.verbs.PathSteps;
import org.hghca.tools.bringup.verbs.SpeedSteps;
import org.hghca.tools.bringup.virtio.NetSteps;
import org.hghca.tools.bringup.virtio.RoceSteps;
import org.hghca.tools.bringup.virtio.VirtioSteps;
import org.hghca.tools.card.KeptCard;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.DriverParameter;

/**
 * A session: all steps in their order, on one board. Used once.
 *
 * <p>It always ends, independent of the card's behaviour: everything runs on a separate thread, and
 * a step that exceeds the time limit in the options is abandoned with all later steps. Interrupting
 * its thread ends it after the current step, which waits for no answer any more.
 */
public final class Bringup implements AutoCloseable {
  private final BringupOptions options;
  private final Bench bench;
  private final Target board;
  private final Driver driver;
  private final StepThread thread;
  private final Marks marks;
  private final List<Step> steps = new ArrayList<>();
  private final Map<String, StepResult> done = new HashMap<>();
  private StepSpan spans;
  private String stoppedAt = "";
  private String brokenAt = "";
  private String keptAt = "";
  private boolean closed;
  private boolean opened = true;

  /** A session that has not started. */
  public Bringup(BringupOptions options) {
    this(options, Bench.NONE);
  }

  /**
   * A session that has not started.
   *
   * @param bench of a card; {@link Bench#NONE} for another device
   */
  public Bringup(BringupOptions options, Bench bench) {
    this.options = options;
    this.bench = bench;
    if (VirtioBoard.isVirtio(options)) {
      VirtioBoard virtio = new VirtioBoard(options);
      board = virtio;
      driver = new Driver(virtio, bench);
      virtioSteps(virtio);
    } else {
      Board card = new Board(options);
      board = card;
      driver = new Driver(card, bench);
      cardSteps(card);
    }
    thread = new StepThread(options.patience(), board.waits());
    marks = new Marks(steps, board, driver, bench);
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
    steps.add(pci.errors());
    verbsSteps(new PathSteps(driver).ofDatagram(), "profile", "hca.close");
    steps.addAll(new StopSteps(card, driver).steps());
  }

  private void virtioSteps(VirtioBoard virtio) {
    PciSteps pci = new PciSteps(virtio);
    steps.addAll(pci.ofEveryFunction());
    steps.addAll(new VirtioSteps(virtio).steps());
    steps.addAll(new NetSteps(virtio).steps());
    steps.addAll(new RoceSteps(virtio).steps());
    steps.add(pci.errors());
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
    steps.addAll(new DataTests(driver).steps());
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
    return run(listener, StepWatcher.none());
  }

  /**
   * As {@link #run(Consumer)}.
   *
   * @param watcher gets what long steps say while they run
   */
  public BringupReport run(Consumer<StepResult> listener, StepWatcher watcher) {
    Instant started = Instant.now();
    long start = System.nanoTime();
    spans = new StepSpan(board.locator(), steps);
    Set<String> chosen = chosen();
    List<StepResult> results = new ArrayList<>();
    try {
      for (Step step : steps) {
        StepResult result = result(step, chosen, watcher);
        done.put(step.id(), result);
        results.add(result);
        listener.accept(result);
        boolean failed = result.verdict() == Verdict.FAIL && bench.keep();
        if (keptAt.isEmpty() && !thread.isInterrupted() && (failed || isKeptAt(step, result))) {
          keptAt = step.id();
        }
      }
    } finally {
      if (kept().isEmpty()) {
        close();
      }
    }
    return BringupReport.of(
        board.locator().without(DriverParameter.TRACE.key()).toString(),
        board.abilities() == null ? "" : board.abilities().name(),
        started,
        System.nanoTime() - start,
        results,
        outcome());
  }

  private boolean isKeptAt(Step step, StepResult result) {
    return step.id().equals(bench.keepAt()) && result.verdict().isResult();
  }

  /** The step after which the session has ended, to keep the card; empty when there is none. */
  public String keptAt() {
    return keptAt;
  }

  /**
   * The card as the session has left it, after {@link #run}; empty when it has given it back: no
   * step was to keep it, or that step has left nothing that can be accessed.
   */
  public Optional<KeptCard> kept() {
    if (keptAt.isEmpty() || thread.isLost() || closed || !(board instanceof Board card)) {
      return Optional.empty();
    }
    return driver.tapped().or(card::tapped).map(card::kept);
  }

  /** Gives the board back, if {@link #run} has not; idempotent. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (!thread.end(this::giveBack) && stoppedAt.isEmpty()) {
        stoppedAt = "the end";
      }
    }
  }

  private Outcome outcome() {
    if (!stoppedAt.isEmpty()) {
      return Outcome.STOPPED;
    }
    if (opened && has(Verdict.FAIL)) {
      return Outcome.FAILED;
    }
    if (thread.isInterrupted()) {
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

  private StepResult result(Step step, Set<String> chosen, StepWatcher watcher) {
    Optional<StepResult> untried = untried(step, chosen);
    if (untried.isPresent()) {
      return untried.get();
    }
    Observation seen = new Observation(watcher);
    long start = System.nanoTime();
    Verdict verdict = Verdict.PASS;
    String complaint = "";
    try {
      thread.run(step.time(), () -> run(step, seen));
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
    if (verdict == Verdict.FAIL && stoppedAt.isEmpty() && brokenAt.isEmpty() && isBroken()) {
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
        seen.facts(),
        board.takeCommands(),
        nanos);
  }

  private void run(Step step, Observation seen) {
    marks.before(step);
    step.body().run(seen);
    seen.raised(driver.takeEvents());
    if (!step.id().equals(bench.keepAt())) {
      driver.release();
    }
  }

  /** The result of a step that is not run; empty if it is to run. */
  private Optional<StepResult> untried(Step step, Set<String> chosen) {
    if (!chosen.contains(step.id())) {
      return untried(
          step,
          Verdict.SKIP,
          options.skip().contains(step.id()) ? "skipped by --skip" : "not selected");
    }
    if (!keptAt.isEmpty()) {
      return untried(step, Verdict.SKIP, "--keep ended the steps at " + keptAt);
    }
    if (thread.isInterrupted()) {
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
            Map.of(),
            List.of(),
            0));
  }

  /** Whether a step goes through the driver. */
  private boolean isOnDriver(Step step) {
    return step.needs().contains(DriverSteps.OPEN)
        || steps.stream().anyMatch(other -> step.needs().contains(other.id()) && isOnDriver(other));
  }

  /** Whether a failure has left a device that no longer works. */
  private boolean isBroken() {
    if (thread.isLost()) {
      return true;
    }
    boolean[] broken = {true};
    try {
      thread.run(() -> broken[0] = driver.isBroken());
    } catch (RuntimeException e) {
      // It is.
    }
    return broken[0];
  }

  private static String complaint(RuntimeException e) {
    String message = e.getMessage();
    boolean known = e.getClass().getName().startsWith("org.hghca.");
    return known && message != null ? message : e.toString();
  }

  private void giveBack() {
    try {
      driver.close();
    } finally {
      board.close();
    }
  }
}

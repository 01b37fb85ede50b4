package org.hghca.tools.bringup;

import static java.util.stream.Collectors.toSet;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.step.StepNotJudgedException;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.StepSkippedException;
import org.hghca.tools.bringup.step.StepWatcher;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.bringup.verbs.DriverSteps;
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
  /** Giving the board back, after all steps. */
  private static final String RELEASE = "the release of the board";

  private final BringupOptions options;
  private final Bench bench;
  private final Target board;
  private final Driver driver;
  private final StepThread thread;
  private final Marks marks;
  private final List<Step> steps;
  private final Established established;
  private final Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
  private Set<String> later = Set.of();
  private StepSpan spans;
  private String stoppedAt = "";
  private String lostAt = "";
  private String brokenAt = "";
  private String keptAt = "";
  private String notReleased = "";
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
      steps = StepList.ofVirtio(virtio, driver);
    } else {
      Board card = new Board(options);
      board = card;
      driver = new Driver(card, bench);
      steps = StepList.ofCard(card, driver);
    }
    thread = new StepThread(options.patience(), board.waits());
    established = new Established(steps);
    marks = new Marks(steps, board, driver, bench);
  }

  /** Whether it is about a card; otherwise it is about a virtio device. */
  public boolean isOfCard() {
    return board instanceof Board;
  }

  /** All steps in their order. */
  public List<Step> steps() {
    return steps;
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
        established.ended(result);
        verdicts.add(result.verdict());
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
    return released(
        BringupReport.of(
            device(),
            board.abilities() == null ? "" : board.abilities().name(),
            started,
            System.nanoTime() - start,
            results,
            outcome()));
  }

  /** The locator of the board in reports: where its trace goes says nothing about it. */
  public String device() {
    return board.locator().without(DriverParameter.TRACE.key()).toString();
  }

  /** A report of the session, with what is known now: the board that was kept may be given back. */
  BringupReport released(BringupReport report) {
    return notReleased.isEmpty() ? report : report.withoutRelease(notReleased, outcome());
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
      try {
        thread.end(this::giveBack);
      } catch (RuntimeException e) {
        notReleased = complaint(e);
        verdicts.add(Verdict.FAIL);
        if (stoppedAt.isEmpty() && CardStoppedException.isBehind(e)) {
          stoppedAt = RELEASE;
        }
      }
    }
  }

  private Outcome outcome() {
    if (!stoppedAt.isEmpty()) {
      return Outcome.STOPPED;
    }
    if (opened && verdicts.contains(Verdict.FAIL)) {
      return Outcome.FAILED;
    }
    if (thread.isInterrupted()) {
      return Outcome.INTERRUPTED;
    }
    if (!opened) {
      return Outcome.NOT_OPENED;
    }
    return verdicts.contains(Verdict.NOT_JUDGED) ? Outcome.INCOMPLETE : Outcome.PASSED;
  }

  /**
   * Leaves out the steps before one, but those that it and later ones need.
   *
   * @param id of the step
   */
  public void from(String id) {
    later = steps.stream().map(Step::id).dropWhile(each -> !each.equals(id)).collect(toSet());
  }

  /** Why a step is left out by the options; empty when it is to run, if nothing is in its way. */
  public Optional<String> leftOut(String id) {
    Step step = steps.stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
    return leftOut(step, chosen()).map(StepResult::reason);
  }

  /** The steps that are named, with those that they need. */
  private Set<String> chosen() {
    Set<String> named = later.isEmpty() ? options.only() : later;
    Set<String> chosen =
        named.isEmpty()
            ? steps.stream().map(Step::id).collect(toSet())
            : established.withNeeds(named);
    chosen.removeAll(options.skip());
    return chosen;
  }

  private StepResult result(Step step, Set<String> chosen, StepWatcher watcher) {
    Optional<StepResult> untried = untried(step, chosen);
    if (untried.isPresent()) {
      return untried.get();
    }
    Observation seen = new Observation(watcher);
    Optional<String> degradation = established.degradation(step);
    long start = System.nanoTime();
    Verdict verdict = Verdict.PASS;
    String complaint = "";
    try {
      thread.run(step.time(), () -> run(step, seen));
      degradation.ifPresent(seen::warn);
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
    if (thread.isLost() && lostAt.isEmpty()) {
      lostAt = step.id();
    }
    long nanos = System.nanoTime() - start;
    spans.record(step, verdict, start);
    established.showed(seen);
    return new StepResult(
        step,
        verdict,
        seen.expected(),
        seen.seen(),
        complaint,
        seen.comparisons(),
        seen.measurements(),
        seen.facts(),
        Stream.of(board.takeCommands(), driver.takeCommands()).flatMap(List::stream).toList(),
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

  private Optional<StepResult> leftOut(Step step, Set<String> chosen) {
    if (!chosen.contains(step.id())) {
      return untried(
          step,
          Verdict.SKIP,
          options.skip().contains(step.id()) ? "skipped by --skip" : "not selected");
    }
    if (step.destructive() && !options.destructive()) {
      return untried(step, Verdict.SKIP, "it can stop the card: --destructive runs it");
    }
    return Optional.empty();
  }

  /** The result of a step that is not run; empty if it is to run. */
  private Optional<StepResult> untried(Step step, Set<String> chosen) {
    Optional<StepResult> leftOut = leftOut(step, chosen);
    if (leftOut.isPresent() && (!chosen.contains(step.id()) || !thread.isInterrupted())) {
      return leftOut;
    }
    if (!keptAt.isEmpty()) {
      return untried(step, Verdict.SKIP, "--keep ended the steps at " + keptAt);
    }
    if (thread.isInterrupted()) {
      return untried(step, Verdict.SKIP, "interrupted");
    }
    if (!stoppedAt.isEmpty()) {
      return untried(step, Verdict.NOT_JUDGED, "the card stopped answering at " + stoppedAt);
    }
    if (!lostAt.isEmpty()) {
      return untried(step, Verdict.NOT_JUDGED, lostAt + " did not end");
    }
    if (!brokenAt.isEmpty()
        && established.reliesOn(step, Capability.DRIVER)
        && !step.id().equals(DriverSteps.CLOSE)) {
      return untried(step, Verdict.NOT_JUDGED, "the device failed at " + brokenAt);
    }
    return established.lackOf(step).flatMap(lack -> untried(step, lack.verdict(), lack.reason()));
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
    String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    boolean known = e.getClass().getName().startsWith("org.hghca.");
    return known ? message : "internal error: " + message;
  }

  private void giveBack() {
    try {
      driver.close();
    } finally {
      board.close();
    }
  }
}

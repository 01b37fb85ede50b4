package org.hghca.tools.bringup.step;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.hghca.programs.perf.suite.SuiteReport;

/** The expected and actual values of a running step. One thread at a time. */
public final class Observation {
  private final List<String> expected = new ArrayList<>();
  private final List<String> seen = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final List<Comparison> comparisons = new ArrayList<>();
  private final Map<String, Object> facts = new LinkedHashMap<>();
  private final Map<Capability, String> given = new EnumMap<>(Capability.class);

  private boolean eventsExpected;
  private Optional<SuiteReport> measurements = Optional.empty();

  private final StepWatcher watcher;

  /**
   * @param watcher gets what a long step says while it runs
   */
  public Observation(StepWatcher watcher) {
    this.watcher = watcher;
  }

  /** Says how far the step is, for who waits for it. */
  public void progress(String line) {
    watcher.progress(line);
  }

  /** Reports an error at once, after which the step continues. */
  public void error(String line) {
    watcher.error(line);
  }

  /** Records what is expected. */
  public void expect(String text) {
    expected.add(text);
  }

  /** Says what was seen. */
  public void saw(String text) {
    seen.add(text);
  }

  /** The step makes the device raise asynchronous events. */
  public void expectEvents() {
    eventsExpected = true;
  }

  /**
   * Asynchronous events that say that something is wrong.
   *
   * @throws StepFailedException when the step expects none
   */
  public void raised(List<String> events) {
    events.forEach(event -> saw("asynchronous event: " + event));
    check(
        eventsExpected || events.isEmpty(),
        "every value is as expected, but the device raised %s"
            .formatted(String.join(", ", events)));
  }

  /** Records what was measured. */
  public void measured(SuiteReport report) {
    measurements = Optional.of(report);
  }

  /**
   * Records something about the board that the whole report says, such as its ids. A later value of
   * the same name replaces it.
   *
   * @param value a text, a number, or a map of them
   */
  public void fact(String name, Object value) {
    facts.put(name, value);
  }

  /** Shows something, however the step ends. */
  public void gives(Capability what) {
    gives(what, "");
  }

  /**
   * Shows something in part, however the step ends: steps that need it run, and say what it lacks.
   *
   * @param lack what it lacks; empty for nothing
   */
  public void gives(Capability what, String lack) {
    given.put(what, lack);
  }

  /** What it has shown, with what it lacks. */
  public Map<Capability, String> given() {
    return Collections.unmodifiableMap(given);
  }

  /** Records a warning, without failing. */
  public void warn(String text) {
    warnings.add(text);
  }

  /**
   * Fails the step unless something holds.
   *
   * @throws StepFailedException when it does not
   */
  public void check(boolean holds, String complaint) {
    if (!holds) {
      throw new StepFailedException(complaint);
    }
  }

  /**
   * Compares bytes in memory of the device, which must be there now. If they differ, it looks again
   * after 1, 10 and 100 ms: late data is another fault than wrong data.
   *
   * @throws StepFailedException when they differ
   */
  public void compareNow(String what, byte[] expectedBytes, Supplier<byte[]> memory) {
    byte[] now = memory.get();
    if (!Arrays.equals(expectedBytes, now)) {
      for (int millis : new int[] {1, 10, 100}) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
        check(
            !Arrays.equals(expectedBytes, memory.get()),
            "%s: the bytes were not there with the completion, but %d ms later"
                .formatted(what, millis));
      }
      compare(what, expectedBytes, now);
    }
  }

  /** Compares all bytes. */
  public void compare(String what, byte[] expectedBytes, byte[] seenBytes) {
    compare(what, expectedBytes, seenBytes, new BitSet());
  }

  /**
   * Compares bytes except some.
   *
   * @throws StepFailedException when one differs
   */
  public void compare(String what, byte[] expectedBytes, byte[] seenBytes, BitSet ignored) {
    Comparison comparison = new Comparison(what, expectedBytes, seenBytes, ignored);
    comparisons.add(comparison);
    int first = comparison.firstDifference();
    check(
        first < 0,
        "%s: %d of %d bytes differ, the first at %02Xh"
            .formatted(what, comparison.differences(), comparison.length(), first));
  }

  /** The exception that ends a step that applies, but cannot be judged. */
  public static StepNotJudgedException notJudged(String reason) {
    return new StepNotJudgedException(reason);
  }

  /** The exception that ends a step that does not apply. */
  public static StepSkippedException skip(String reason) {
    return new StepSkippedException(reason);
  }

  public List<String> expected() {
    return List.copyOf(expected);
  }

  public List<String> seen() {
    return List.copyOf(seen);
  }

  /** About the board, by name. */
  public Map<String, Object> facts() {
    return Collections.unmodifiableMap(new LinkedHashMap<>(facts));
  }

  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  public Optional<SuiteReport> measurements() {
    return measurements;
  }

  public List<Comparison> comparisons() {
    return List.copyOf(comparisons);
  }
}

package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A failure ends only what needs what it has not shown: later steps run on what there is. */
class BringupCapabilitiesTest {
  private static final Duration LIMIT = Duration.ofMillis(1500);

  private static Map<String, StepResult> results(BringupReport report) {
    return report.results().stream()
        .collect(Collectors.toMap(result -> result.step().id(), Function.identity()));
  }

  private static BringupReport run(String profile, String fault, String... only) {
    BringupOptions options =
        SessionOptions.of(
                "model:%s-%s?fault=%s&profile=%s".formatted(fault, profile, fault, profile))
            .limit(LIMIT)
            .only(Set.of(only))
            .done();
    return new Bringup(options).run(result -> {});
  }

  /** The second one fails for another reason, the third one could not be judged. */
  @ParameterizedTest
  @CsvSource({
    "s, hcr-stuck-bit, hcr.registers, hcr.nop, PASS, dma.first, needs addresses in the command"
        + " register",
    "s, small-bar2, pci.bars, qp.query, PASS, path.doorbell, needs BAR2",
    "s, small-bar2, pci.bars, hca.close, PASS, driver.open, needs BAR2",
    "r1, mailbox-swapped, cmd.dev-lim, hca.init, WARN, driver.open, needs right answers of"
        + " commands",
    "r1, mailbox-swapped, cmd.dev-lim, loop.read, PASS, driver.open, needs right answers of"
        + " commands",
    "r2, impossible-limits, cmd.dev-lim, hca.close, PASS, driver.open, needs right answers of"
        + " commands",
    "s, impossible-limits, cmd.dev-lim, cmd.adapter, PASS, hca.init, needs the limits of the"
        + " device",
    "s, payload-zeros, loop.send, loop.read, FAIL, , ",
    "s, cqe-wrong-qpn, path.doorbell, loop.send, FAIL, , ",
    "s, payload-zeros, rc.send, data.lengths, FAIL, , ",
    "s, no-cqe, path.doorbell, hca.close, PASS, loop.send, needs doorbells and completions",
  })
  void failureEndsOnlyWhatNeedsWhatItHasNotShown(
      String profile,
      String fault,
      String failing,
      String later,
      Verdict verdict,
      String open,
      String reason) {
    Map<String, StepResult> results =
        results(
            open == null
                ? run(profile, fault, failing, later)
                : run(profile, fault, failing, later, open));

    assertThat(results.get(failing).verdict()).isEqualTo(Verdict.FAIL);
    assertThat(results.get(later).verdict())
        .as("%s", results.get(later).reason())
        .isEqualTo(verdict);
    if (open != null) {
      assertThat(results.get(open).verdict()).isEqualTo(Verdict.NOT_JUDGED);
      assertThat(results.get(open).reason()).isEqualTo(reason + ": " + failing + " failed");
    }
  }

  /** Each command waits longer, also those of the driver, and what relies on it says so. */
  @ParameterizedTest
  @CsvSource({"s", "r1", "r2"})
  void lateAnswersAreWaitedFor(String profile) {
    BringupReport report =
        run(profile, "late-outbox", "cmd.adapter", "qp.query", "hca.close", "rc.send");
    Map<String, StepResult> results = results(report);

    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.FAILED);
    assertThat(results.values())
        .filteredOn(result -> result.verdict() == Verdict.FAIL)
        .extracting(result -> result.step().id())
        .containsExactly("dma.first");
    for (String step : new String[] {"cmd.adapter", "qp.query", "hca.close"}) {
      assertThat(results.get(step).verdict()).as(step).isEqualTo(Verdict.WARN);
      assertThat(results.get(step).reason())
          .startsWith("degraded: answers come ")
          .endsWith("(dma.first)");
    }
    assertThat(results.get("rc.send").verdict()).isEqualTo(Verdict.PASS);
    assertThat(report.conclusion().causes())
        .singleElement()
        .satisfies(
            cause ->
                assertThat(cause.what())
                    .isEqualTo("the answers of commands come after the end of the command"));
  }

  @Test
  void stepsThatPassSayNothingOfDegradation() {
    BringupReport report = run("s", "slow-commands", "loop.read");

    assertThat(report.results())
        .filteredOn(result -> result.reason().contains("degraded"))
        .isEmpty();
    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.PASSED);
  }
}

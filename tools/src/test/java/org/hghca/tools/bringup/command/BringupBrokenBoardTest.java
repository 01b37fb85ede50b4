package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.tools.bringup.command.BringupRun.bringup;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.ModelProvider;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.Fault;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Boards with which {@code bringup} stops, or which it refuses. */
class BringupBrokenBoardTest {
  @AfterAll
  static void letStuckReadsReturn() {
    Fault.RELEASE.countDown();
  }

  @Test
  void commandThatDoesNotEndStopsTheSession() {
    CommandLineRun run = bringup("-d", "faulty:hang", "--limit", "PT1S").assertExit(4);
    assertThat(run.out())
        .contains("FAIL  hca.init")
        .contains("did not complete INIT_HCA")
        .contains("command   INIT_HCA op_modifier 0 in_modifier 0h")
        .contains("no answer")
        .containsPattern("OPEN  the card stopped answering at hca.init: .*icm.qpc, .*driver.open, ")
        .contains("faulty:hang: CARD STOPPED")
        .doesNotContain("Exception", "\tat ");
  }

  @Test
  void boardWithoutHcrFails() {
    CommandLineRun run = bringup("-d", "faulty:no-hcr").assertExit(1);
    assertThat(run.out())
        .contains("FAIL  hcr.probe")
        .contains("there is no HCR")
        .contains("BAR0 + 00000h is not an HCR")
        .contains("BAR0 + 80000h is not an HCR");
  }

  /** A read of 80000h would stop the card. */
  @ParameterizedTest
  @CsvSource({
    "?profile=r1, --profile=s",
    "?profile=r2, --profile=s",
    "?profile=r1&as=s, --verbose",
    "?profile=r1&hcr=0x80000, --verbose"
  })
  void profileThatTheRegistersContradictIsRefusedBeforeAnAccess(String parameters, String option) {
    String locator = "model:mistaken" + parameters;
    List<String> hazards = new ArrayList<>();
    SessionOptions options = SessionOptions.of(locator);
    if (option.equals("--profile=s")) {
      options.profile(HardwareProfile.S);
    }

    BringupReport report =
        new Bringup(options.done())
            .run(
                result ->
                    ModelProvider.hca(Locator.parse(locator))
                        .ifPresent(hca -> hazards.addAll(hca.hazards())));

    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.FAILED);
    assertThat(report.results())
        .filteredOn(result -> result.verdict() == Verdict.FAIL)
        .singleElement()
        .satisfies(
            result -> {
              assertThat(result.step().id()).isEqualTo("hcr.probe");
              assertThat(result.reason()).contains("the HCR is at BAR0 + 0h").contains("leave out");
            });
    assertThat(hazards).isEmpty();
  }

  @Test
  void boardThatDoesNotAnswerIsNotProbedElsewhere() {
    CommandLineRun run = bringup("-d", "faulty:all-ones").assertExit(4);
    assertThat(run.out())
        .contains("FAIL  hcr.probe")
        .contains("BAR0 + 00000h reads all ones")
        .doesNotContain("80000h reads", "80000h is");
  }

  @Test
  void hungReadEndsTheSession() {
    BringupOptions options =
        SessionOptions.of("faulty:stuck").patience(Duration.ofSeconds(5)).done();

    BringupReport report = new Bringup(options).run(result -> {});

    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.STOPPED);
    assertThat(report.results())
        .filteredOn(result -> result.verdict() == Verdict.FAIL)
        .singleElement()
        .satisfies(
            result -> {
              assertThat(result.step().id()).isEqualTo("hcr.probe");
              assertThat(result.reason()).contains("an access to the card does not return");
            });
    letStuckReadsReturn();
    assertGivenBack("model:stuck");
  }

  /** A software HCA that is attached cannot be attached again. */
  private static void assertGivenBack(String locator) {
    long start = System.nanoTime();
    while (true) {
      try {
        PciFunctions.open(Locator.parse(locator)).close();
        return;
      } catch (VfioException e) {
        assertThat(System.nanoTime() - start).as(e.getMessage()).isLessThan(20_000_000_000L);
        Thread.yield();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void functionWithoutResetIsNotJudged(String profile) {
    CommandLineRun run = bringup("-d", "model:board?reset=none&profile=" + profile).assertExit(6);
    assertThat(run.out())
        .containsPattern("OPEN  the function has no reset, .*assumeClean=true .*: pci.reset")
        .contains("INCOMPLETE", "0 failed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void functionThatIsAssumedCleanNeedsNoReset(String profile) {
    CommandLineRun run =
        bringup("-d", "model:board?reset=none&assumeClean=true&profile=" + profile).assertExit(0);
    assertThat(run.out()).containsPattern("SKIP  the function has no reset, .*: pci.reset");
  }

  @Test
  void functionWithoutResetIsBroughtUp() {
    CommandLineRun run =
        bringup("-d", "model:board?reset=none", "--only", "hca.init").assertExit(0);
    assertThat(run.out()).contains("PASS  hca.init");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nosuchscheme:0", "model:x?nosuch=1"})
  void boardThatCannotBeOpenedIsExitCode3(String device) {
    CommandLineRun run = bringup("-d", device).assertExit(3);
    assertThat(run.out()).contains("FAIL  open").contains("NOT OPENED");
  }
}

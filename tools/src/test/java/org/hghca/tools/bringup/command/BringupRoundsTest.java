package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.tools.bringup.command.BringupRun.bringup;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.bringup.Progress;
import org.hghca.tools.bringup.Rounds;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.StepWatcher;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --from} and {@code --repeat}, for work beside a logic analyzer. */
class BringupRoundsTest {
  @TempDir private Path folder;

  @Test
  void fromRunsAStepAllLaterOnesAndWhatTheyNeed() {
    CommandLineRun run =
        bringup("-d", "model:board", "--from=event.ring", "--skip=speed").assertExit(0);
    assertThat(run.out())
        .contains("PASS  event.ring", "PASS  driver.close")
        .contains("PASS  driver.loop", "PASS  hca.init")
        .containsPattern("SKIP  not selected: .*cmd.bad-param, .*rc.many, .*err.timeout\n")
        .contains("SKIP  skipped by --skip: speed\n");
  }

  @ParameterizedTest
  @CsvSource({
    "--from=nosuch, no step is named nosuch: --list shows them",
    "--from=open --only=open, --from and --only both choose steps: give one of them",
    "--repeat=0, '--repeat must be from 1 to 100,000'",
    "--repeat=100001, '--repeat must be from 1 to 100,000'"
  })
  void wrongChoiceIsRefused(String options, String complaint) {
    List<String> words = new ArrayList<>(List.of("-d", "model:board"));
    words.addAll(List.of(options.split(" ")));
    CommandLineRun run = bringup(words.toArray(String[]::new)).assertExit(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains(complaint);
  }

  @Test
  void everyRoundOpensTheBoardAndCountsTheFailuresOfEachStep() throws IOException {
    Path json = folder.resolve("a.json");
    CommandLineRun run =
        bringup(
                "-d",
                "model:board?fault=hcr-stuck-bit",
                "--repeat=3",
                "--only=hcr.registers",
                "--json=" + json,
                "--json-lines=" + folder.resolve("a.jsonl"),
                "--html=" + folder.resolve("a.html"),
                "--junit=" + folder.resolve("a.xml"))
            .assertExit(1);
    assertThat(run.out())
        .containsSubsequence("round 1/3\n", "round 2/3\n", "round 3/3\n")
        .contains("FAIL  in 3 of 3 rounds: hcr.registers\n")
        .contains("FAILED, 3 of 3 rounds, 5 passed, ");
    assertThat(run.out().split("PASS  open", -1)).as("of the first round only").hasSize(2);
    assertThat(run.out().split("FAIL  hcr.registers", -1)).as("of each round").hasSize(4);
    Map<String, Object> report = JSON.std.mapFrom(Files.readString(json));
    assertThat(report).containsEntry("rounds", 3);
    assertThat((List<?>) report.get("steps"))
        .filteredOn(step -> !((Map<?, ?>) step).get("failures").equals(0))
        .singleElement()
        .satisfies(
            step -> {
              assertThat(((Map<?, ?>) step).get("id")).isEqualTo("hcr.registers");
              assertThat(((Map<?, ?>) step).get("failures")).isEqualTo(3);
              assertThat((List<?>) ((Map<?, ?>) step).get("rounds")).hasSize(3);
            });
    assertThat(folder.resolve("a.jsonl"))
        .content()
        .contains("\"round\":3,\"id\":\"hcr.registers\"");
    assertThat(folder.resolve("a.html"))
        .content()
        .contains("failed in 3 of 3 rounds", ", 3 rounds");
    assertThat(folder.resolve("a.xml")).content().contains("failed in 3 of 3 rounds");
  }

  /** On the RTL the card is reset at the beginning of each. */
  @ParameterizedTest
  @CsvSource({"s, 0", "r1, 2"})
  void eachRoundSoaks(String profile, int resets) throws IOException {
    Path lines = folder.resolve("soak.jsonl");
    bringup(
            "-d",
            "model:soak?profile=" + profile,
            "--soak=PT0.3S",
            "--repeat=2",
            "--only=data.soak",
            "--json-lines=" + lines)
        .assertExit(0);
    List<Map<String, Object>> soaks = new ArrayList<>();
    for (String line : Files.readAllLines(lines)) {
      Map<String, Object> record = JSON.std.mapFrom(line);
      if ("data.soak".equals(record.get("id"))) {
        soaks.add(record);
      }
    }
    assertThat(soaks).extracting("round").containsExactly(1, 2);
    assertThat(soaks).extracting("verdict").containsOnly("PASS");
    assertThat(soaks)
        .allSatisfy(
            soak -> {
              assertThat(((Number) soak.get("milliseconds")).doubleValue()).isGreaterThan(300);
              assertThat(soak.get("seen").toString()).containsPattern("[1-9][0-9,]* messages");
            });
    assertThat(soaks)
        .filteredOn(soak -> soak.get("seen").toString().contains("; 1 resets"))
        .hasSize(resets);
  }

  private static final class Seen implements Progress {
    private final List<Integer> rounds = new ArrayList<>();
    private final Runnable step;

    Seen(Runnable step) {
      this.step = step;
    }

    @Override
    public void round(int number) {
      rounds.add(number);
    }

    @Override
    public void step(StepResult result) {
      if (rounds.size() == 2) {
        step.run();
      }
    }
  }

  private static BringupReport run(BringupOptions options, int count, Seen seen) {
    try (Rounds rounds = new Rounds(options, Bench.NONE, count)) {
      return rounds.run(seen, StepWatcher.none());
    }
  }

  @Test
  void roundThatIsInterruptedIsTheLastAndKeepsWhatPassedBefore() {
    Seen seen = new Seen(() -> Thread.currentThread().interrupt());
    BringupReport report = run(SessionOptions.of("model:rounds").withoutLoop().done(), 5, seen);

    assertThat(report.outcome()).isEqualTo(Outcome.INTERRUPTED);
    assertThat(seen.rounds).containsExactly(1, 2);
    assertThat(report.rounds()).isEqualTo(2);
    Tally last =
        report.tallies().stream()
            .filter(tally -> tally.result().step().id().equals("driver.close"))
            .findFirst()
            .orElseThrow();
    assertThat(last.rounds())
        .extracting(Tally.Round::verdict)
        .containsExactly(Verdict.PASS, Verdict.SKIP);
    assertThat(last.result().verdict()).isEqualTo(Verdict.PASS);
  }

  @ParameterizedTest
  @CsvSource({"nosuchscheme:0, NOT_OPENED", "faulty:all-ones, STOPPED"})
  void boardThatCannotGoOnHasNoFurtherRound(String device, Outcome outcome) {
    Seen seen = new Seen(() -> {});

    assertThat(run(BringupOptions.of(device), 3, seen).outcome()).isEqualTo(outcome);
    assertThat(seen.rounds).containsExactly(1);
  }
}

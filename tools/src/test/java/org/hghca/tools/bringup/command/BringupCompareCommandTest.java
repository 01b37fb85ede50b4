package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BringupCompareCommandTest {
  private static final int RUNS = 4;

  /** What a bring-up of a card ends with that it could open, and that nobody interrupted. */
  private static final List<Integer> OPENED =
      Stream.of(ExitCode.OK, ExitCode.FAILED, ExitCode.INCOMPLETE).map(ExitCode::code).toList();

  @TempDir private Path folder;

  private static CommandLineRun compare(Path before, Path after) {
    return CommandLineRun.of("bringup", "compare", before.toString(), after.toString());
  }

  private Path report(String name, String device, String... options) {
    Path file = folder.resolve(name);
    List<String> words = new ArrayList<>(List.of("bringup", "-d", device, "--seconds=0.01"));
    words.add((name.endsWith("l") ? "--json-lines=" : "--json=") + file);
    words.addAll(List.of(options));
    CommandLineRun run = CommandLineRun.of(words.toArray(String[]::new));
    assertThat(run.exitCode()).as(run.out()).isIn(OPENED);
    return file;
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** A report of one step with times. */
  private Path timed(String name, double... millis) throws IOException {
    return timed(name, "", millis);
  }

  private Path timed(String name, String speeds, double... millis) throws IOException {
    String rounds =
        IntStream.range(0, millis.length)
            .mapToObj(
                i ->
                    String.format(
                        Locale.ROOT,
                        "{\"verdict\":\"PASS\",\"milliseconds\":%f%s}",
                        millis[i],
                        speeds.isEmpty()
                            ? ""
                            : ",\"speeds\":{\"x, MiB/s\":%s}".formatted(speeds.split(" ")[i])))
            .collect(Collectors.joining(","));
    return file(
        name,
        """
        {"schema_version":1,"hghca":{"version":"1","commit":"unknown"},"command_line":"hghca bringup",
        "machine":{"kernel":"k","CPU":"c","JVM":"j"},"device":"model:","started":"2026-01-01T00:00:00Z",
        "board":{},"outcome":"PASSED","steps":[{"id":"open","verdict":"PASS","rounds":[%s]}]}
        """
            .formatted(rounds));
  }

  /** Every pair of these runs: 6. */
  @Test
  @Timeout(300)
  void runsOnTheSameGoodCardDoNotDiffer() {
    List<Path> reports = new ArrayList<>();
    for (int i = 0; i < RUNS; i++) {
      reports.add(report(i + (i % 2 == 0 ? ".json" : ".jsonl"), "model:board"));
    }

    for (Path before : reports) {
      for (Path after : reports.subList(0, reports.indexOf(before))) {
        CommandLineRun run = compare(before, after).assertExit(0);
        assertThat(run.out()).contains("no difference; 73 steps, 73 times").contains("--repeat=5");
      }
    }
  }

  @Test
  @Timeout(300)
  void roundsOnTheSameGoodCardDoNotDiffer() {
    String[] options = {"--repeat=5", "--only=rc.send,speed"};

    CommandLineRun run =
        compare(report("a.json", "model:board", options), report("b.jsonl", "model:board", options))
            .assertExit(0);
    assertThat(run.out()).contains("no difference; ").doesNotContain("shows smaller ones");
  }

  /** As if a step took a minute longer. */
  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  void slowerStepIsShown(int rounds) throws IOException {
    Path before = report("a.json", "model:board", "--repeat=" + rounds, "--only=hca.init");
    Map<String, Object> json = JSON.std.mapFrom(Files.readString(before));
    for (Object step : (List<?>) json.get("steps")) {
      if (((Map<?, ?>) step).get("id").equals("hca.init")) {
        for (Object round : (List<?>) ((Map<?, ?>) step).get("rounds")) {
          @SuppressWarnings("unchecked") // an object of JSON
          Map<String, Object> times = (Map<String, Object>) round;
          times.compute("milliseconds", (_, time) -> ((Number) time).doubleValue() + 60_000);
        }
      }
    }
    Path after = file("b.json", JSON.std.asString(json));

    CommandLineRun run = compare(before, after).assertExit(1);
    assertThat(run.out())
        .containsPattern("time +hca.init, ms: [0-9.]+.* -> 60[0-9]{3}\\.[0-9]+")
        .contains("1 difference; ");
  }

  @Test
  void stepsLimitsAndOutcomeAreCompared() {
    String[] options = {"--only=loop.send,cmd.adapter"};
    Path good = report("good.json", "model:board", options);

    CommandLineRun worse =
        compare(good, report("bad.json", "model:board?fault=payload-stuck-bit", options))
            .assertExit(1);
    assertThat(worse.out())
        .contains("outcome  PASSED -> FAILED")
        .containsPattern("step +PASS -> FAIL: .*: loop.send\n")
        .contains("(device: model:board -> model:board?fault=payload-stuck-bit)");

    CommandLineRun smaller =
        compare(good, report("small.json", "model:board?fault=small-limits", options))
            .assertExit(1);
    assertThat(smaller.out()).contains("board    limits.max_qps: 16384 -> 64");

    CommandLineRun stuck =
        compare(good, report("stuck.json", "model:board?fault=hcr-stuck-bit", options));
    assertThat(stuck.out())
        .contains("board    limits: only old")
        .containsPattern(
            "step +PASS -> OPEN: needs addresses in the command register: hcr.registers failed:"
                + " dma.first, ");
  }

  @Test
  void stepsOfOneReportOnlyAreNamed() {
    Path more = report("a.json", "model:board", "--only=hcr.nop,cmd.adapter");
    Path less = report("b.json", "model:board", "--only=cmd.adapter", "--skip=pci.reset");

    assertThat(compare(more, report("c.json", "model:board", "--only=hcr.probe")).out())
        .contains("only old hcr.registers, hcr.nop, dma.first, profile, cmd.adapter\n");
    assertThat(compare(report("d.json", "model:board", "--only=open"), less).out())
        .contains("only new pci.identity, ");
  }

  @ParameterizedTest
  @CsvSource({
    // One round: ten times as long, and a second more.
    "100, 1200, 1",
    "100, 990, 0",
    "1, 900, 0",
    "200, 1900, 0",
    "1200, 100, 1",
    // Five rounds: the gap is wider than either, more than 10 ms and 10 %.
    "100 101 102 103 104, 120 121 122 123 124, 1",
    "120 121 122 123 124, 100 101 102 103 104, 1",
    "100 101 102 103 104, 113 114 115 116 117, 0",
    "100 110 120 130 140, 160 170 180 190 200, 0",
    "100 110 120 130 140, 190 200 205 210 215, 1",
    "500 501 502 503 504, 530 531 532 533 534, 0",
    "100 101 102 103, 120 121 122 123 124, 0"
  })
  void timesDifferBeyondNoiseOnly(String before, String after, int exitCode) throws IOException {
    compare(timed("a.json", numbers(before)), timed("b.json", numbers(after))).assertExit(exitCode);
  }

  @ParameterizedTest
  @CsvSource({
    "100 101 102 103 104, 120 121 122 123 124, 1",
    "100 101 102 103 104, 106 107 108 109 110, 0",
    "100 101 102 103, 1 1 1 1, 0"
  })
  void speedsDifferOnlyWhenRepeated(String before, String after, int exitCode) throws IOException {
    double[] ones = {1, 1, 1, 1, 1};
    compare(
            timed("a.json", before, Arrays.copyOf(ones, before.split(" ").length)),
            timed("b.json", after, Arrays.copyOf(ones, after.split(" ").length)))
        .assertExit(exitCode);
  }

  private static double[] numbers(String text) {
    return Arrays.stream(text.split(" ")).mapToDouble(Double::parseDouble).toArray();
  }

  @Test
  void linesWithoutAnEndAreComparedAsFarAsTheyGo() throws IOException {
    Path whole = report("a.jsonl", "model:board", "--only=cmd.adapter");
    List<String> lines = Files.readAllLines(whole);
    List<String> kept = new ArrayList<>();
    for (String line : lines) {
      if (line.contains("\"id\":\"hcr.nop\"")) {
        break;
      }
      kept.add(line);
    }
    Path killed = file("killed.jsonl", String.join("\n", kept) + "\n{\"type\":\"step\",\"rou");

    CommandLineRun run = compare(whole, killed).assertExit(1);
    assertThat(run.out())
        .contains("outcome  PASSED -> no end: the program was killed in hcr.nop\n")
        .contains("only old hcr.nop, dma.first, profile, cmd.adapter\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 10, 1000, 20_000})
  void cutReportIsNamed(int length) throws IOException {
    String whole = Files.readString(report("a.json", "model:board", "--only=cmd.adapter"));
    Path cut = file("cut.json", whole.substring(0, length));

    assertRefused(cut, "cut.json is cut, or empty: make it again; a report of --json-lines");
  }

  @Test
  void cutFirstLineIsNamed() throws IOException {
    String whole = Files.readString(report("a.jsonl", "model:board", "--only=open"));

    assertRefused(
        file("cut.jsonl", whole.substring(0, whole.indexOf('\n') - 20)),
        "cut.jsonl is cut, or empty");
  }

  @Test
  void damagedLineIsNamed() throws IOException {
    List<String> lines = Files.readAllLines(report("a.jsonl", "model:board", "--only=open"));
    lines.set(2, "{\"type\":\"step\",,}");

    assertRefused(
        file("b.jsonl", String.join("\n", lines) + "\n"),
        "b.jsonl is damaged in line 3: make the report again");
  }

  @Test
  void newerReportNamesItsWriter() throws IOException {
    Path newer = timed("newer.json", 1);
    file(
        "newer.json",
        Files.readString(newer).replace("n\":1,", "n\":2,").replace("n\":\"1\"", "n\":\"7.1\""));

    assertRefused(
        newer,
        "newer.json has schema version 2, and this hghca reads up to 1: compare with hghca 7.1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<!DOCTYPE html>\n<html>",
        "{\"tests\":[]}",
        "{\"schema_version\":1}",
        "[1, 2]",
        "42",
        "hello"
      })
  void fileThatIsNoReportIsNamed(String text) throws IOException {
    assertRefused(
        file("x.json", text),
        "x.json is no report of hghca bringup: --json or --json-lines writes one");
  }

  @Test
  void reportWithAMissingPartIsNamed() throws IOException {
    Path damaged = timed("a.json", 1);
    file("a.json", Files.readString(damaged).replace("\"rounds\"", "\"turns\""));

    assertRefused(damaged, "a.json breaks docs/bring-up.schema.json at rounds");
  }

  @Test
  void unreadableFileIsNamed() {
    assertRefused(folder.resolve("none.json"), "none.json cannot be read: no such file");
    assertRefused(folder, folder + " cannot be read: Is a directory");
  }

  /** One line on standard error, and exit code 2, on both sides. */
  private void assertRefused(Path bad, String complaint) {
    Path good = report("good.json", "model:board", "--only=open");
    for (CommandLineRun run : List.of(compare(good, bad), compare(bad, good))) {
      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.out()).isEmpty();
      assertThat(run.err()).startsWith("hghca: ").contains(complaint).hasLineCount(1);
    }
  }

  @Test
  void optionsOfTheBringUpAreRefused() {
    CommandLineRun run =
        CommandLineRun.of("bringup", "-d", "model:", "compare", "a", "b").assertExit(2);
    assertThat(run.err()).contains("Options follow the command: give --ib-dev after");
  }
}

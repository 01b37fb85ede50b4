package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerfCompareCommandTest {
  @TempDir private Path folder;

  private static CommandLineRun compare(Object... words) {
    return CommandLineRun.of(
        Stream.concat(Stream.of("perf", "compare"), Arrays.stream(words).map(Object::toString))
            .toArray(String[]::new));
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** As perftest writes it, line by line. */
  private static String throughput(long size, double average) {
    return """
    {
    "test_info": {
    "test": "RDMA_Write_BW_Test",
    "Dual_port": "OFF",
    "Device": "mlx5_0",
    "Number_of_qps": 1,
    "Transport_type": "IB",
    "Connection_type": "RC",
     "PCIe_relax_order": "Unsupported",
    "rdma_cm_QPs": "OFF",
    "Data_ex_method": "Ethernet"
    },
    "results": {
    "MsgSize": %d,
    "n_iterations": 5000,
    "BW_peak": 0.00,
    "BW_average": %.2f,
    "MsgRate": 0.175976
    }
    }
    """
        .formatted(size, average);
  }

  private static String runs(double... averages) {
    return Arrays.stream(averages)
        .mapToObj(average -> throughput(65536, average))
        .collect(Collectors.joining("\n"));
  }

  private static List<String> rows(CommandLineRun run) {
    return run.out().lines().skip(1).map(line -> line.replaceAll(" +", " ")).toList();
  }

  @Test
  void moreThroughputIsBetter() throws IOException {
    CommandLineRun run =
        compare(
                file("old", runs(100, 104, 98, 102)),
                file("new", runs(110, 109, 115)),
                "--max-loss",
                "0")
            .assertExit(0);
    assertThat(rows(run))
        .containsExactly(
            "RDMA_Write_BW_Test RC 1 65536 BW_average 101.00 (4) 111.33 (3) +10.2 %"
                + " +3.9 % to +16.6 % better");
  }

  @Test
  void lossIsShownAndFails() throws IOException {
    Path before = file("old", runs(110, 109, 115));
    Path after = file("new", runs(100, 104, 98, 102));
    assertThat(compare(before, after).exitCode()).isZero();
    assertThat(compare(before, after, "--max-loss", "10").exitCode()).isZero();
    CommandLineRun run = compare(before, after, "--max-loss", "9").assertExit(1);
    assertThat(rows(run).getFirst()).endsWith("-9.3 % -15.0 % to -3.5 % worse, LOST");
    assertThat(run.err()).isEqualTo("hghca: more is lost than --max-loss allows\n");
  }

  @Test
  void noiseIsNoDifference() throws IOException {
    CommandLineRun run =
        compare(file("old", runs(12.5, 11, 10.5)), file("new", runs(10, 12, 11)), "--max-loss", "0")
            .assertExit(0);
    assertThat(rows(run).getFirst()).contains("-2.9 %").endsWith("no difference shown");
  }

  @Test
  void oneRunHasNoIntervalButALimit() throws IOException {
    Path before = file("old", runs(100));
    Path after = file("new", runs(90));
    CommandLineRun run = compare(before, after, "--max-loss", "5").assertExit(1);
    assertThat(rows(run).getFirst())
        .isEqualTo(
            "RDMA_Write_BW_Test RC 1 65536 BW_average 100.00 (1) 90.00 (1) -10.0 % not repeated,"
                + " LOST");
  }

  @Test
  void moreFilesAreMoreRuns() throws IOException {
    CommandLineRun run =
        compare(
            file("old", runs(100)),
            file("new", runs(120)),
            "--old",
            file("old2", runs(102)),
            "--old",
            file("old3", runs(101)),
            "--new",
            file("new2", runs(121)));
    assertThat(rows(run).getFirst()).contains("101.00 (3) 120.50 (2)").endsWith("better");
  }

  @Test
  void lessLatencyIsBetter() throws IOException {
    String form =
        """
        {"tests": [{
        "test_info": {"test": "Send_Latency_Test", "Connection_type": "UD", "Number_of_qps": 1},
        "results": [
        {"MsgSize": 2, "n_iterations": 1000, "t_min": 1.0, "t_typical": %s, "t_avg": 9,
         "percentile_99": %s, "percentile_99.9": 7},
        {"MsgSize": 4, "n_iterations": 1000, "t_avg": %s, "tps_average": 1}
        ]}]}
        """;
    CommandLineRun run =
        compare(
            file("old", form.formatted(2, 4, 8) + form.formatted(2.01, 4.1, 8.1)),
            file("new", form.formatted(1, 8, 8) + form.formatted(1.01, 8.1, 8.1)));
    assertThat(rows(run))
        .satisfiesExactly(
            row -> assertThat(row).contains("2 t_typical").endsWith("better"),
            row -> assertThat(row).contains("2 percentile_99").endsWith("worse"),
            row -> assertThat(row).contains("4 t_avg").endsWith("no difference shown"));
  }

  @Test
  void whatIsMissingFailsALimit() throws IOException {
    Path before = file("old", runs(100) + throughput(64, 5));
    Path after = file("new", runs(100) + throughput(128, 5));
    assertThat(compare(before, after).exitCode()).isZero();
    CommandLineRun run = compare(before, after, "--max-loss", "5").assertExit(1);
    assertThat(run.out())
        .contains("only old: RDMA_Write_BW_Test RC, 1 QP, 64 bytes, BW_average\n")
        .contains("only new: RDMA_Write_BW_Test RC, 1 QP, 128 bytes, BW_average\n");
  }

  @Test
  void filesThatHaveNoResultsAreNamed() throws IOException {
    Path good = file("good", runs(100));
    Path other = file("other", "{\"a\": 1}");
    assertThat(compare(good, other).err())
        .isEqualTo(
            "hghca: %s must have test_info and results, as --out_json of perftest writes them\n"
                .formatted(other));
    Path empty = file("empty", "{\"tests\": []}");
    assertThat(compare(good, empty).err()).isEqualTo("hghca: " + empty + " has no results\n");
    Path elsewhere = file("elsewhere", throughput(1, 1));
    assertThat(compare(good, elsewhere).err())
        .isEqualTo("hghca: the two sides have no test and size in common\n");
  }

  @Test
  void filesThatCannotBeReadAreNamedInOneLine() throws IOException {
    Path good = file("good", runs(100));
    assertRefused(good, folder.resolve("none"), "no such file");
    assertRefused(good, folder, "Is a directory");
    assertRefused(good, file("empty", "\n"), "the file is empty");
    assertRefused(good, file("bent", "{\n\"test_info\": "), "malformed JSON at line 2, column 14");
    assertRefused(good, file("text", "hello"), "malformed JSON at line 1, column 1");
    assertRefused(good, file("deep", "[".repeat(2000)), "malformed JSON");
    Path bytes = Files.write(folder.resolve("bytes"), new byte[] {(byte) 0xff, '{'});
    assertRefused(good, bytes, "not text in UTF-8");
  }

  private static void assertRefused(Path good, Path file, String why) {
    for (CommandLineRun run : List.of(compare(good, file), compare(file, good))) {
      assertThat(run).isEqualTo(new CommandLineRun(1, "", "hghca: %s: %s\n".formatted(file, why)));
    }
  }

  /** JSON has no infinity, but numbers that are as large. */
  @Test
  void figuresThatAreNoNumbersAreRefused() throws IOException {
    String good = runs(100, 104);
    for (String bad : List.of("1e999", "-1e999")) {
      CommandLineRun run =
          compare(file("old", good), file("new", good.replace("104.00", bad)), "--max-loss", "0")
              .assertExit(1);
      assertThat(run.err()).contains("new", "BW_average is no number");
      assertThat(run.err().lines()).hasSize(1);
    }
  }
}

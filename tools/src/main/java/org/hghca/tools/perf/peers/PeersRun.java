package org.hghca.tools.perf.peers;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Measures rows one after another, each in JVMs of its own. Not thread-safe. */
final class PeersRun {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String PROCESSORS = "Cpus_allowed_list:";

  /** How long the rest of a row takes at most: starting JVMs, and waiting for a silent one. */
  private static final Duration REST = Duration.ofSeconds(60);

  private final List<Row> rows;
  private final Duration each;
  private final Consumer<String> progress;
  private final Consumer<String> complaints;
  private boolean interrupted;

  /**
   * Nothing is measured yet.
   *
   * @param each how long the measurements of each row take, after warming up
   * @param progress gets what is measured next, as a line
   * @param complaints gets what JVMs print to their standard error
   */
  PeersRun(List<Row> rows, Duration each, Consumer<String> progress, Consumer<String> complaints) {
    this.rows = rows;
    this.each = each;
    this.progress = progress;
    this.complaints = complaints;
  }

  /** Whether it was interrupted; its rows are then those so far. */
  boolean isInterrupted() {
    return interrupted;
  }

  /** Measures. */
  List<PeerRow> run() throws IOException {
    List<PeerRow> measured = new ArrayList<>();
    Path folder = Files.createTempDirectory("hghca-peers");
    try {
      for (Row row : rows) {
        progress.accept("%d of %d: %s".formatted(measured.size() + 1, rows.size(), row.name()));
        measured.add(measure(row, folder));
      }
    } catch (InterruptedException _) {
      interrupted = true;
    } finally {
      delete(folder);
    }
    return measured;
  }

  private PeerRow measure(Row row, Path folder) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (row.oneProcessor()) {
      command.addAll(List.of("taskset", "-c", processor()));
    }
    command.addAll(
        SecondJvm.command(
            List.of("-Dhghca.runtime.dir=" + folder), RowMain.class, RowMain.measuring(row, each)));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
    } catch (IOException e) {
      return row.oneProcessor()
          ? new PeerRow.Unmeasured(row.name(), "needs taskset, of util-linux", false)
          : new PeerRow.Unmeasured(row.name(), PeerRow.why(e), true);
    }
    Duration limit = each.multipliedBy(2L * (1 + RowMeasurement.WARM_UP)).plus(REST);
    try {
      if (!process.waitFor(limit)) {
        return new PeerRow.Unmeasured(
            row.name(), "did not end within %d s".formatted(limit.toSeconds()), true);
      }
      return outcome(row, process.exitValue(), Files.readString(out));
    } finally {
      end(process);
      Files.readString(err).lines().forEach(complaints);
    }
  }

  /** Ends what still runs of a row. */
  private static void end(Process process) throws InterruptedException {
    List<ProcessHandle> others = process.descendants().toList();
    process.destroyForcibly().waitFor();
    for (ProcessHandle other : others) {
      boolean _ = other.destroyForcibly();
      ProcessHandle _ = other.onExit().join();
    }
  }

  private static PeerRow outcome(Row row, int exitValue, String out) throws IOException {
    return out.isBlank()
        ? new PeerRow.Unmeasured(
            row.name(), "its JVM ended with exit code %d".formatted(exitValue), true)
        : PeerRow.of(JSON.std.mapFrom(out));
  }

  /** The last processor that this process may use: the first one often serves interrupts. */
  private static String processor() throws IOException {
    try (Stream<String> lines = Files.lines(STATUS)) {
      return lines
          .filter(line -> line.startsWith(PROCESSORS))
          .map(line -> line.replaceAll(".*\\D", ""))
          .findFirst()
          .orElse("0");
    }
  }

  /** What JVMs that were ended have left is there, too. */
  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}

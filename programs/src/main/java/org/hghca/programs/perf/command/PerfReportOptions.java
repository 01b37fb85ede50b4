package org.hghca.programs.perf.command;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.OptionalDouble;
import org.hghca.programs.Json;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.ReportFile;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Parameters.Only;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.result.Limits;
import org.hghca.programs.perf.session.PerfDocument;
import picocli.CommandLine.Option;

/** What a program of perftest prints. */
final class PerfReportOptions {
  /** The peak of more messages is not searched. */
  private static final int MOST_FOR_PEAK = 20_000;

  private static final double MEDIAN = 50;

  @Option(names = "--report_gbits", description = "Gb/sec instead of MiB/sec.")
  private boolean gigabits;

  @Option(
      names = {"-N", "--noPeak"},
      description = "Do not search the peak, which more than 20000 messages have not anyway.")
  private boolean noPeak;

  @Option(
      names = {"-H", "--report-histogrm", "--report-histogram"},
      description = "Print all latencies, the shortest first.")
  private boolean sorted;

  @Option(
      names = {"-U", "--report-unsorted"},
      description = "Print all latencies in their order.")
  private boolean unsorted;

  @SuppressWarnings("UnusedVariable") // the clock here has no frequency
  @Option(
      names = {"-F", "--CPU-freq"},
      description = "Accepted; no clock here depends on the frequency of the CPU.")
  private boolean anyFrequency;

  @Option(
      names = {"-w", "--limit_bw", "--min-bw"},
      paramLabel = "<rate>",
      description = "Fail if the average throughput is lower, in the unit of the report.")
  private Double leastBandwidth;

  @Option(
      names = {"-y", "--limit_msgrate"},
      paramLabel = "<rate>",
      description = "Fail if the message rate is lower, in millions a second.")
  private Double leastMessageRate;

  @Option(
      names = "--max-lat",
      paramLabel = "<usec>",
      description =
          "Fail if the latency is higher: that of --max-lat-percentile, the average with -D.")
  private Double mostLatency;

  @Option(
      names = "--max-lat-percentile",
      paramLabel = "<percentile>",
      description = "Which latency --max-lat is about (default: 50).")
  private Double percentile;

  @Option(names = "--json", description = "Print one JSON document instead of text.")
  private boolean json;

  @Option(names = "--out_json", description = "Write the same document to --out_json_file.")
  private boolean jsonFile;

  @Option(
      names = "--out_json_file",
      paramLabel = "<file>",
      description = "The file of --out_json; - is stdout (default: perftest_out.json).")
  private String jsonFileName;

  @Option(
      names = "--output",
      paramLabel = "<what>",
      description = "Print one number: bandwidth, message_rate or latency.")
  private String only;

  Parameters.Report report(OptionCheck check, PerfTest test, PerfAmountOptions amount) {
    boolean bandwidth = test.isBandwidth();
    check.that(bandwidth || !noPeak, "NoPeak only valid for BW tests: -N");
    check.that(bandwidth || !gigabits, "--report_gbits is an option of throughput tests");
    check.that(!bandwidth || !(sorted || unsorted), "-H and -U are options of latency tests");
    check.that(
        !amount.isTimed() || !(sorted || unsorted), "-H and -U need -n: -D keeps no latencies");
    return new Parameters.Report(
        gigabits,
        bandwidth && !noPeak && amount.iterations(test) <= MOST_FOR_PEAK,
        unsorted,
        sorted,
        only(check, bandwidth),
        json,
        limits(check, bandwidth));
  }

  private Limits limits(OptionCheck check, boolean bandwidth) {
    check.that(
        bandwidth || leastBandwidth == null && leastMessageRate == null,
        "--min-bw, -w and -y are options of throughput tests");
    check.that(!bandwidth || mostLatency == null, "--max-lat is an option of latency tests");
    check.that(percentile == null || mostLatency != null, "--max-lat-percentile needs --max-lat");
    double which = percentile == null ? MEDIAN : percentile;
    check.that(which > 0 && which <= 100, "--max-lat-percentile must be above 0, up to 100");
    return new Limits(
        optional(leastBandwidth), optional(leastMessageRate), optional(mostLatency), which);
  }

  private static OptionalDouble optional(Double value) {
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  private Optional<ReportFile<PerfDocument>> file() {
    if (!jsonFile && jsonFileName == null) {
      return Optional.empty();
    }
    String name = jsonFileName == null ? "perftest_out.json" : jsonFileName;
    return Optional.of(new ReportFile<>(name, document -> Json.document(document.toJson()) + "\n"));
  }

  /** Whether the document is wanted in a file. */
  boolean writesFile() {
    return file().filter(file -> !file.isStdout()).isPresent();
  }

  /** Whether the document can be written where it is wanted; says otherwise why not. */
  boolean canBeWritten(PrintWriter err) {
    return ReportFile.tries(err, () -> file().ifPresent(ReportFile::check));
  }

  /** Writes the document where it is wanted; returns false, and says why, when that failed. */
  boolean write(PerfDocument document, PrintWriter out, PrintWriter err) {
    if (json) {
      out.println(Json.document(document.toJson()));
    }
    return ReportFile.tries(err, () -> file().ifPresent(file -> file.write(document, out)));
  }

  private Optional<Only> only(OptionCheck check, boolean bandwidth) {
    if (only == null) {
      return Optional.empty();
    }
    return switch (only) {
      case "bandwidth" -> only(check, bandwidth, Only.BANDWIDTH);
      case "message_rate" -> only(check, bandwidth, Only.MESSAGE_RATE);
      case "latency" -> only(check, !bandwidth, Only.LATENCY);
      default -> only(check, false, Only.LATENCY);
    };
  }

  private static Optional<Only> only(OptionCheck check, boolean known, Only number) {
    check.that(
        known,
        "--output must be bandwidth or message_rate of a throughput test, latency of a latency"
            + " test");
    return Optional.of(number);
  }
}

package org.hghca.tools;

import java.util.Optional;
import org.hghca.tools.perf.Parameters;
import org.hghca.tools.perf.Parameters.Only;
import org.hghca.tools.perf.PerfTest;
import picocli.CommandLine.Option;

/** What a program of perftest prints. */
final class PerfReportOptions {
  /** The peak of more messages is not searched. */
  private static final int MOST_FOR_PEAK = 20_000;

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
      names = "--output",
      paramLabel = "<what>",
      description = "Print one number: bandwidth, message_rate or latency.")
  private String only;

  Parameters.Report report(PerfCheck check, PerfTest test, PerfAmountOptions amount) {
    boolean bandwidth = test.isBandwidth();
    check.that(!bandwidth || !(sorted || unsorted), "-H and -U are options of latency tests");
    check.that(
        !amount.isTimed() || !(sorted || unsorted), "-H and -U need -n: -D keeps no latencies");
    return new Parameters.Report(
        gigabits,
        bandwidth && !noPeak && amount.iterations(test) <= MOST_FOR_PEAK,
        unsorted,
        sorted,
        only(check, bandwidth));
  }

  private Optional<Only> only(PerfCheck check, boolean bandwidth) {
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

  private static Optional<Only> only(PerfCheck check, boolean known, Only number) {
    check.that(
        known,
        "--output must be bandwidth or message_rate of a throughput test, latency of a latency"
            + " test");
    return Optional.of(number);
  }
}

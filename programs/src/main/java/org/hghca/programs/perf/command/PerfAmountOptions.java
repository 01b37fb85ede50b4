package org.hghca.programs.perf.command;

import java.time.Duration;
import java.util.Optional;
import org.hghca.programs.CNumber;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.ClientAmount;
import org.hghca.verbs.QpType;
import picocli.CommandLine.Option;

/** How much a program of perftest transfers. */
final class PerfAmountOptions {
  private static final int LATENCY_BYTES = 2;
  private static final int BANDWIDTH_BYTES = 65_536;
  private static final int ATOMIC_BYTES = 8;
  private static final int MOST_BYTES = 1 << 30;
  private static final int LEAST_ITERATIONS = 5;
  private static final int MOST_ITERATIONS = 100_000_000;
  private static final int ITERATIONS = 1000;
  private static final int WRITE_ITERATIONS = 5000;
  private static final int SECONDS = 5;
  private static final int MOST_SECONDS = 1_000_000;
  private static final double MEBIBYTE = 1 << 20;
  private static final double GIGABIT_BYTES = 125_000_000;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<bytes>",
      converter = MessageSize.class,
      description =
          "Bytes of a message, 64K and 1M among others (default: 65536 for throughput, 2 for"
              + " latency, 8 atomic).")
  private Integer size;

  @Option(
      names = {"-a", "--all"},
      description = "Sizes 2, 4, 8 to 8388608, one after another; those of UD end at the MTU.")
  private boolean all;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "<iters>",
      converter = CNumber.class,
      description =
          "Messages of a queue pair, 5 or more (default: 5000 of ib_write_bw, else 1000).")
  private Integer iterations;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "<seconds>",
      converter = CNumber.class,
      description = "Measure by time: this long, with both margins.")
  private Integer seconds;

  @Option(
      names = {"-f", "--margin"},
      paramLabel = "<seconds>",
      converter = CNumber.class,
      description = "What does not count at either end of -D (default: a quarter of it).")
  private Integer margin;

  @Option(
      names = "--run_infinitely",
      description = "Print a row every 5 seconds, or -D, until Ctrl-C; of throughput tests.")
  private boolean endless;

  @Option(
      names = "--rate_limit",
      paramLabel = "<rate>",
      description = "The most that is sent, in --rate_units.")
  private Double rate;

  @Option(
      names = "--rate_units",
      paramLabel = "<units>",
      description = "M for MiB/s, g for Gb/s, p for messages a second (default: g).")
  private Character rateUnits;

  @Option(
      names = "--burst_size",
      paramLabel = "<messages>",
      converter = CNumber.class,
      description = "Messages that go at once under --rate_limit (default: the tx depth).")
  private Integer burst;

  @Option(
      names = "--rate_limit_type",
      paramLabel = "<type>",
      description = "SW; HW and PP are not supported: the device has no pacing.")
  private String rateLimitType;

  /**
   * Leaves to a client what no option names: the size, and how many messages or how long.
   *
   * @param client how much the client transfers
   */
  void leaveTo(ClientAmount client) {
    if (size == null && !all) {
      size = client.size().isPresent() ? Integer.valueOf(client.size().getAsInt()) : null;
      all = client.all();
    }
    if (iterations == null && !isTimed()) {
      iterations =
          client.iterations().isPresent() ? Integer.valueOf(client.iterations().getAsInt()) : null;
      seconds = client.seconds().isPresent() ? Integer.valueOf(client.seconds().getAsInt()) : null;
      endless = client.endless();
    }
  }

  /** Bytes of a message. */
  long size(PerfTest test) {
    if (test.verb() == Verb.ATOMIC) {
      return ATOMIC_BYTES;
    }
    if (all) {
      return Parameters.LARGEST_BYTES;
    }
    if (size != null) {
      return size;
    }
    return test.isBandwidth() ? BANDWIDTH_BYTES : LATENCY_BYTES;
  }

  boolean isAll() {
    return all;
  }

  /** Whether time ends it, or nobody. */
  boolean isTimed() {
    return seconds != null || endless;
  }

  /** Messages of a queue pair. */
  long iterations(PerfTest test) {
    if (iterations != null) {
      return iterations;
    }
    return test == PerfTest.IB_WRITE_BW ? WRITE_ITERATIONS : ITERATIONS;
  }

  Parameters.Amount amount(
      OptionCheck check, PerfTest test, QpType type, Parameters.Queues queues) {
    check.that(
        test.verb() != Verb.ATOMIC || size == null || size == ATOMIC_BYTES,
        "Message size cannot be changed for Atomic tests: -s");
    check.that(
        test.verb() != Verb.ATOMIC || !all, "Atomic tests have one message size, not all: -a");
    check.range("-s", size(test), 1, MOST_BYTES);
    check.range("-n", iterations(test), LEAST_ITERATIONS, MOST_ITERATIONS);
    check.that(iterations == null || !isTimed(), "-n and -D exclude each other");
    check.that(
        isTimed() || iterations(test) % queues.postList() == 0,
        "Number of iterations must be a multiple of post list size");
    boolean adaptable = type == QpType.UD && size == null && test.isBandwidth();
    return new Parameters.Amount(
        size(test),
        adaptable,
        all,
        iterations(test),
        span(check, test, queues),
        rate(check, test, queues));
  }

  private Optional<Parameters.Span> span(
      OptionCheck check, PerfTest test, Parameters.Queues queues) {
    check.that(margin == null || seconds != null, "-f needs -D");
    if (!isTimed()) {
      return Optional.empty();
    }
    check.that(!all, "Duration mode currently doesn't support running on all sizes: -a");
    check.that(!queues.events(), "Duration mode doesn't work with events: -e");
    long whole = seconds == null ? SECONDS : seconds;
    check.range("-D", whole, 1, MOST_SECONDS);
    if (endless) {
      check.that(test.isBandwidth(), "--run_infinitely exists only in BW tests");
      check.that(margin == null, "run_infinitely has no margins");
      check.that(
          !queues.bidirectional() || test.verb() != Verb.SEND,
          "run_infinitely mode is not supported in SEND Bidirectional BW test");
      return Optional.of(new Parameters.Span(Duration.ofSeconds(whole), Duration.ZERO, true));
    }
    long edge = margin == null ? whole / 4 : margin;
    check.range("-f", edge, 0, MOST_SECONDS);
    check.that(
        whole > 2 * edge,
        "please check that DURATION > 2*MARGIN: -D %d -f %d".formatted(whole, edge));
    return Optional.of(
        new Parameters.Span(Duration.ofSeconds(whole), Duration.ofSeconds(edge), false));
  }

  private Optional<Parameters.RateLimit> rate(
      OptionCheck check, PerfTest test, Parameters.Queues queues) {
    check.that(
        rateLimitType == null || rateLimitType.equals("SW"),
        "--rate_limit_type %s is not supported: the device has no pacing; SW is"
            .formatted(rateLimitType));
    check.that(burst == null || rate != null, "--burst_size needs --rate_limit");
    check.that(rateUnits == null || rate != null, "--rate_units needs --rate_limit");
    check.that(rateLimitType == null || rate != null, "--rate_limit_type needs --rate_limit");
    if (rate == null) {
      return Optional.empty();
    }
    char units = rateUnits == null ? 'g' : rateUnits;
    check.that("Mgp".indexOf(units) >= 0, "--rate_units must be M, g or p");
    check.that(
        test.isBandwidth() || units == 'p' && !isTimed(),
        "--rate_limit of latency tests needs --rate_units p, and -n");
    check.that(
        !test.isBandwidth()
            || test.verb() != Verb.ATOMIC && !(test.verb() == Verb.SEND && queues.bidirectional()),
        "SW Rate limiter can't be executed on ATOMIC or bidirectional SEND throughput tests:"
            + " --rate_limit");
    check.that(!all, "--rate_limit needs one size, not -a");
    check.that(rate > 0, "--rate_limit must be more than 0");
    double perSecond =
        switch (units) {
          case 'M' -> rate * MEBIBYTE / size(test);
          case 'g' -> rate * GIGABIT_BYTES / size(test);
          default -> rate;
        };
    int together = burst == null ? queues.sendDepth() : burst;
    check.range("--burst_size", together, 1, MOST_ITERATIONS);
    return Optional.of(new Parameters.RateLimit(perSecond, together));
  }
}

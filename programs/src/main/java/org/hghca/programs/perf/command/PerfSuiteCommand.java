package org.hghca.programs.perf.command;

import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.hghca.programs.CNumber;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.programs.GivenCommand;
import org.hghca.programs.Interruption;
import org.hghca.programs.Json;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.ReportFile;
import org.hghca.programs.TraceOption;
import org.hghca.programs.Version;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.page.Environment;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.programs.perf.suite.Row;
import org.hghca.programs.perf.suite.Suite;
import org.hghca.programs.perf.suite.SuiteReport;
import org.hghca.programs.perf.suite.SuiteText;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca perf suite}: all programs of perftest between two devices of this process. */
@Command(
    name = "suite",
    description = {
      "Measure throughput and latency of all operations over RC, UC and UD, both sides in this"
          + " process, as one report that 'hghca perf compare' reads.",
      "The devices are two software HCAs joined by a cable, unless others are named. A row that"
          + " fails says why, and the next one follows; the exit code is then 1."
    })
final class PerfSuiteCommand implements Callable<Integer>, OutlivesReader {
  private static final List<String> SOFTWARE_HCAS =
      List.of("model:left?cable=perf", "model:right?cable=perf");

  private static final long LARGEST_LATENCY = 65_536;
  private static final int MOST_SECONDS = 3600;
  private static final double NANOS = 1e9;

  @Spec private CommandSpec spec;

  @CommandLine.Parameters(
      paramLabel = "<test>",
      description = "Tests to run, such as ib_write_bw ib_send_lat (default: all).")
  private List<String> chosen = List.of();

  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description =
          "Name or locator of a device: once for both sides, or once for server and once for"
              + " client.")
  private List<String> devices = List.of();

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<bytes>",
      split = ",",
      converter = CNumber.class,
      description =
          "Bytes of messages, with commas between them (default: ${DEFAULT-VALUE}; of latency up"
              + " to 65536, of UD up to the MTU).")
  private List<Integer> sizes = List.of(8, 64, 512, 4096, 65_536, 1 << 20);

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "<seconds>",
      description = "About how long in all, up to 3600 (default: ${DEFAULT-VALUE}).")
  private double seconds = 60;

  @Option(names = "--report_gbits", description = "Gb/sec instead of MiB/sec.")
  private boolean gigabits;

  @Option(names = "--json", description = "Print one JSON document instead of text.")
  private boolean json;

  @Option(
      names = "--out_json_file",
      paramLabel = "<file>",
      description = "Write the same document to a file; - is stdout.")
  private String jsonFile;

  @Mixin private PerfRouteOptions route;
  @Mixin private PerfPageOption page;
  @Mixin private TraceOption trace;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(
        devices.size() <= 2, "Two sides, so at most two devices: --ib-dev was given more often");
    check.that(
        seconds > 0 && seconds <= MOST_SECONDS, "-D must be more than 0, up to " + MOST_SECONDS);
    sizes.forEach(size -> check.range("-s", size, 1, Parameters.LARGEST_BYTES));
    List<PerfTest> programs = programs(check);
    Parameters.Route on = route.route(check, QpType.RC, Optional.empty());
    check.that(
        on.meeting() == Parameters.Meeting.TCP,
        "-R and -z are not supported: both sides are in this process");
    PrintWriter err = spec.commandLine().getErr();
    boolean canBeWritten =
        page.canBeWritten() && ReportFile.tries(err, () -> file().ifPresent(ReportFile::check));
    if (!canBeWritten) {
      return ExitCode.NO_OUTPUT.code();
    }
    List<String> names = devices;
    if (names.isEmpty()) {
      err.println("hghca: using two embedded software HCAs; name others with --ib-dev");
      names = SOFTWARE_HCAS;
    }
    String server = names.getFirst();
    String client = names.getLast();
    return trace.around(() -> run(trace.traced(server), trace.traced(client), programs, on));
  }

  private int run(String server, String client, List<PerfTest> programs, Parameters.Route on) {
    try (BothSides sides = open(server, client, on)) {
      return run(sides, programs, on);
    }
  }

  private static BothSides open(String server, String client, Parameters.Route on) {
    try {
      return BothSides.open(server, client, on);
    } catch (VerbsException e) {
      throw new NotOpenedException(e);
    }
  }

  private Integer run(BothSides sides, List<PerfTest> programs, Parameters.Route on) {
    List<List<Parameters>> tests =
        tests(programs, Math.min(sides.server().mtu().bytes(), sides.client().mtu().bytes()), on);
    long count = tests.size() + tests.stream().mapToLong(List::size).sum();
    Duration each = Duration.ofNanos((long) (seconds * NANOS / count));
    PrintWriter out = json ? new PrintWriter(Writer.nullWriter()) : page.text();
    SuiteText text = new SuiteText(out);
    List<Row> rows = new ArrayList<>();
    Thread running = Thread.currentThread();
    long start = System.nanoTime();
    try (Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED);
        ProgressLine line = ProgressLine.on(spec.commandLine())) {
      Suite suite =
          new Suite(
              sides,
              each,
              line::named,
              row -> {
                rows.add(row);
                text.print(row);
              });
      boolean whole = suite.run(tests);
      SuiteReport report = new SuiteReport(facts(sides, on), rows);
      text.end(report, (System.nanoTime() - start) / NANOS);
      boolean written = write(report);
      if (!whole) {
        return ExitCode.INTERRUPTED.code();
      }
      ExitCode end = report.isGood() ? ExitCode.OK : ExitCode.FAILED;
      return (written ? end : ExitCode.NO_OUTPUT).code();
    }
  }

  /** The tests that exist, each with its sizes. */
  private List<List<Parameters>> tests(List<PerfTest> programs, long mtu, Parameters.Route on) {
    List<List<Parameters>> tests = new ArrayList<>();
    for (PerfTest test : programs) {
      for (QpType type : QpType.values()) {
        if (exists(test, type)) {
          tests.add(
              sizes(test, type, mtu).mapToObj(size -> parameters(test, type, size, on)).toList());
        }
      }
    }
    return tests.stream().filter(each -> !each.isEmpty()).toList();
  }

  private static boolean exists(PerfTest test, QpType type) {
    return switch (type) {
      case RC -> true;
      case UC -> test.verb() == Verb.SEND || test.verb() == Verb.WRITE;
      case UD -> test.verb() == Verb.SEND;
      default -> false;
    };
  }

  private LongStream sizes(PerfTest test, QpType type, long mtu) {
    if (test.verb() == Verb.ATOMIC) {
      return LongStream.of(Long.BYTES);
    }
    long most =
        type == QpType.UD ? mtu : test.isBandwidth() ? Parameters.LARGEST_BYTES : LARGEST_LATENCY;
    return sizes.stream().mapToLong(size -> size).sorted().distinct().filter(size -> size <= most);
  }

  /** What the program itself would measure. */
  private Parameters parameters(PerfTest test, QpType type, long size, Parameters.Route on) {
    List<String> words = new ArrayList<>(List.of("-c", type.name(), "-s", Long.toString(size)));
    words.addAll(test.isBandwidth() ? List.of("-D", "1", "-f", "0") : List.of("-n", "500"));
    if (gigabits) {
      words.add("--report_gbits");
    }
    Parameters asked = PerfTestCommand.parameters(test, words.toArray(String[]::new));
    return new Parameters(
        asked.test(), asked.type(), asked.amount(), asked.queues(), on, asked.report());
  }

  private Map<String, String> facts(BothSides sides, Parameters.Route on) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("command", GivenCommand.line(spec));
    Map<String, String> server = Environment.device(sides.server().context(), on.port());
    if (sides.server() == sides.client()) {
      facts.putAll(server);
    } else {
      server.forEach((name, value) -> facts.put("server's " + name, value));
      Environment.device(sides.client().context(), on.port())
          .forEach((name, value) -> facts.put("client's " + name, value));
    }
    facts.put("hghca", Version.hghca());
    facts.putAll(Environment.time());
    facts.putAll(Environment.machine());
    return facts;
  }

  private Optional<ReportFile<SuiteReport>> file() {
    return Optional.ofNullable(jsonFile)
        .map(name -> new ReportFile<>(name, report -> Json.document(report.toJson()) + "\n"));
  }

  private boolean write(SuiteReport report) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.document(report.toJson()));
    }
    boolean written =
        ReportFile.tries(
            spec.commandLine().getErr(), () -> file().ifPresent(file -> file.write(report, out)));
    return page.isWanted() ? page.write(report.page()) && written : written;
  }

  /** The tests of the given names; picocli would call a name that cannot be converted unmatched. */
  private List<PerfTest> programs(OptionCheck check) {
    List<String> all = Arrays.stream(PerfTest.values()).map(PerfTest::program).toList();
    chosen.forEach(
        name ->
            check.that(
                all.contains(name),
                "'%s' is no test; there are: %s".formatted(name, String.join(" ", all))));
    return chosen.isEmpty()
        ? List.of(PerfTest.values())
        : chosen.stream().map(name -> PerfTest.values()[all.indexOf(name)]).toList();
  }
}

package org.hghca.tools.perf.peers;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.programs.CNumber;
import org.hghca.programs.ExitCode;
import org.hghca.programs.GivenCommand;
import org.hghca.programs.Interruption;
import org.hghca.programs.Json;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.Version;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.command.PerfTestCommand;
import org.hghca.programs.perf.command.ProgressLine;
import org.hghca.programs.perf.page.Environment;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca perf peers}: hghca beside sockets and copies of memory. */
@Command(
    name = "peers",
    description = {
      "Measure the same messages over software HCAs (in process, over vfio-user, as RoCE v2 over"
          + " UDP), over TCP and UDP sockets of the loopback interface, and as copies of memory,"
          + " all of it in this process and in the same rounds. The figures are medians.",
      "A row that fails says why, and the exit code is then 1."
    })
public final class PerfPeersCommand implements Callable<Integer>, OutlivesReader {
  private static final int MOST_SECONDS = 3600;
  private static final double NANOS = 1e9;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<bytes>",
      split = ",",
      converter = CNumber.class,
      description = "Bytes of messages, with commas between them (default: ${DEFAULT-VALUE}).")
  private List<Integer> sizes = List.of(8, 4096, 65_536, 1 << 20);

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "<seconds>",
      description = "About how long in all, up to 3600 (default: ${DEFAULT-VALUE}).")
  private double seconds = 45;

  @Option(names = "--json", description = "Print one JSON document instead of text.")
  private boolean json;

  @Option(names = "--markdown", description = "Print a table in Markdown instead of text.")
  private boolean markdown;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(
        seconds > 0 && seconds <= MOST_SECONDS, "-D must be more than 0, up to " + MOST_SECONDS);
    sizes.forEach(size -> check.range("-s", size, 1, Parameters.LARGEST_BYTES));
    check.that(!(json && markdown), "--json and --markdown exclude each other");
    List<Integer> different = sizes.stream().sorted().distinct().toList();
    List<Entrant> entrants = Entrant.all(Collections.max(different), PerfPeersCommand::parameters);
    Duration whole = Duration.ofNanos((long) (seconds * NANOS));
    Thread running = Thread.currentThread();
    PrintWriter out = spec.commandLine().getOut();
    try (Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED)) {
      PeerRun run;
      List<PeerRow> rows;
      try (ProgressLine line = ProgressLine.on(spec.commandLine())) {
        run = new PeerRun(entrants, different, whole, line::show);
        rows = run.run();
      }
      PeersReport report = new PeersReport(facts(), rows);
      out.println(
          json ? Json.pretty(report.toJson()) : markdown ? report.markdown() : report.text());
      out.flush();
      ExitCode end = report.isGood() ? ExitCode.OK : ExitCode.FAILED;
      return (run.isInterrupted() ? ExitCode.INTERRUPTED : end).code();
    }
  }

  /** What the program itself would measure. */
  private static Parameters parameters(PerfTest test, int size) {
    return test.isBandwidth()
        ? PerfTestCommand.parameters(test, "-s", Integer.toString(size), "-N")
        : PerfTestCommand.parameters(test, "-s", Integer.toString(size));
  }

  private Map<String, String> facts() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("command", GivenCommand.line(spec));
    facts.put("hghca", Version.hghca());
    facts.putAll(Environment.time());
    facts.putAll(Environment.machine());
    return facts;
  }
}

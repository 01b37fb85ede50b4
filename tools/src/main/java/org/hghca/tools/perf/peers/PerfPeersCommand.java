package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import org.hghca.programs.GivenCommand;
import org.hghca.programs.Interruption;
import org.hghca.programs.Json;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.Version;
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
      "Measure the same messages between two processes over software HCAs (shared memory, RoCE v2"
          + " over UDP), over TCP and UDP sockets of the loopback interface; and within one"
          + " process, over a cable and as copies of memory. Each row has JVMs of its own, which"
          + " warm up until their compilers rest.",
      "Round trips of 8 bytes, streams of 64 KiB and 1 MiB, and the processor time of both"
          + " processes for each message of the round trips; of sockets, messages of 64 bytes and"
          + " streams of 64 KiB.",
      "A row that fails says why, and the exit code is then 1."
    })
public final class PerfPeersCommand implements Callable<Integer>, OutlivesReader {
  private static final int MOST_SECONDS = 3600;
  private static final double NANOS = 1e9;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "<seconds>",
      description =
          "How long each row measures, up to 3600 (default: ${DEFAULT-VALUE}); it warms up for 4"
              + " times as long at most.")
  private double seconds = 3;

  @Option(
      names = "--sockets",
      description =
          "Measure sockets over RDMA beside the platform's instead: round trips and streams of one"
              + " connection, round trips of 64 connections in a selector, and connects.")
  private boolean sockets;

  @Option(names = "--json", description = "Print one JSON document instead of text.")
  private boolean json;

  @Option(names = "--markdown", description = "Print a table in Markdown instead of text.")
  private boolean markdown;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(
        seconds > 0 && seconds <= MOST_SECONDS, "-D must be more than 0, up to " + MOST_SECONDS);
    check.that(!(json && markdown), "--json and --markdown exclude each other");
    Table table = sockets ? Table.SOCKETS : Table.MESSAGES;
    Duration each = Duration.ofNanos((long) (seconds * NANOS));
    Thread running = Thread.currentThread();
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try (Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED)) {
      PeersRun run;
      List<PeerRow> rows;
      try (ProgressLine line = ProgressLine.on(spec.commandLine())) {
        run =
            new PeersRun(
                table.rows(),
                each,
                line::show,
                complaint -> {
                  line.wipe();
                  err.println(complaint);
                });
        rows = run.run();
      }
      PeersReport report = new PeersReport(facts(), table, rows);
      out.println(
          json ? Json.document(report.toJson()) : markdown ? report.markdown() : report.text());
      out.flush();
      ExitCode end = report.isGood() ? ExitCode.OK : ExitCode.FAILED;
      return (run.isInterrupted() ? ExitCode.INTERRUPTED : end).code();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

package org.hghca.tools.monitor;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.hghca.linux.Linux;
import org.hghca.linux.TerminalSize;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Json;
import org.hghca.programs.StandardOutput;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.tools.monitor.Traffic.Use;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca top}: what the programs of this user do with their devices. */
@Command(
    name = "top",
    description = {
      "Show what the running programs of this user do with their devices, and each of their queue"
          + " pairs: bytes and requests a second, errors since the beginning.",
      "Ctrl-C ends it. Programs show their counters twice a second, unless they were started with"
          + " --publish-counters=off, in a program -Dhghca.counters=off."
    })
public final class TopCommand implements Callable<Integer> {
  private static final int STANDARD_OUTPUT = 1;
  private static final TerminalSize USUAL = new TerminalSize(24, 80);
  private static final double LEAST_SECONDS = 0.1;
  private static final double MOST_SECONDS = 3600;

  @Spec private CommandSpec spec;

  @Option(
      names = "--once",
      description = "Print once what was counted since the beginning, and end.")
  private boolean once;

  @Option(
      names = "--json",
      description = "Print all counters as JSON: a line each time, or with --once one document.")
  private boolean json;

  @Option(
      names = "--interval",
      paramLabel = "<seconds>",
      description = "Time between two tables (default: 1).")
  private double interval = 1;

  @Option(
      names = "--sort",
      paramLabel = "<by>",
      description = "What the lines are sorted by: ${COMPLETION-CANDIDATES} (default: traffic).")
  private Traffic.Order order = Traffic.Order.traffic;

  @Option(
      names = "--width",
      paramLabel = "<columns>",
      description =
          "Width of the table (default: that of the terminal, and with --once all columns).")
  private int width;

  @Override
  public Integer call() {
    if (!(interval >= LEAST_SECONDS && interval <= MOST_SECONDS)) {
      throw new ParameterException(
          spec.commandLine(),
          "--interval takes %s to %.0f seconds".formatted(LEAST_SECONDS, MOST_SECONDS));
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    boolean terminal = out instanceof StandardOutput output && output.isTerminal();
    if (!once && !json && !terminal) {
      err.println("hghca: top needs a terminal: --once prints a table, --json is for programs");
      return ExitCode.USAGE.code();
    }
    Optional<RunningPrograms> programs = RunningPrograms.find(err);
    if (programs.isEmpty()) {
      return ExitCode.FAILED.code();
    }
    if (once) {
      once(programs.get(), out, err);
      return ExitCode.OK.code();
    }
    return repeat(programs.get(), out, err);
  }

  private void once(RunningPrograms programs, PrintWriter out, PrintWriter err) {
    List<Found> found = programs.read(err);
    if (json) {
      out.println(Json.document(document(found)));
      return;
    }
    List<Use> uses = new Traffic(false).measure(found, order);
    if (uses.isEmpty()) {
      out.println(programs.nobody());
      return;
    }
    int columns = width == 0 ? Integer.MAX_VALUE - 1 : width;
    new TopTable(columns, false).lines(uses).forEach(out::println);
  }

  private static Map<String, Object> document(List<Found> found) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("time", Instant.now().toString());
    document.put("programs", found.stream().map(RunningPrograms::json).toList());
    return document;
  }

  private int repeat(RunningPrograms programs, PrintWriter out, PrintWriter err) {
    Traffic traffic = new Traffic(true);
    try {
      while (true) {
        if (json) {
          out.println(Json.record(document(programs.read(err))));
        } else {
          Screen screen = new Screen(size());
          List<Use> uses = traffic.measure(programs.read(screen.complaints()), order);
          out.print(screen.text(uses, programs.nobody()));
        }
        out.flush();
        if (out.checkError()) {
          return ExitCode.NO_OUTPUT.code();
        }
        Thread.sleep((long) (interval * 1000));
      }
    } catch (InterruptedException e) {
      return ExitCode.INTERRUPTED.code();
    }
  }

  private TerminalSize size() {
    TerminalSize terminal = TerminalSize.of(Linux.system(), STANDARD_OUTPUT).orElse(USUAL);
    return width == 0 ? terminal : new TerminalSize(terminal.rows(), width);
  }
}

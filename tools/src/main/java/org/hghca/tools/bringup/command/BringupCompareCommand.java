package org.hghca.tools.bringup.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Json;
import org.hghca.programs.OutlivesReader;
import org.hghca.tools.bringup.compare.RecordedReport;
import org.hghca.tools.bringup.compare.ReportComparison;
import org.hghca.tools.bringup.compare.ReportReader;
import org.hghca.tools.bringup.compare.UnreadableReportException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code hghca bringup compare}: what changed between two reports. */
@Command(
    name = "compare",
    description = {
      "Compare two reports of bringup, of --json or --json-lines: the results of steps, the board's"
          + " ids, link and limits, and times and speeds that differ by more than noise.",
      "With five rounds or more in both (--repeat), a time or speed differs when the gap between"
          + " the old and the new ones is wider than the spread of either, and more than 10"
          + " percent, and 10 ms of a step. With fewer, speeds are not compared, and a step differs"
          + " when it takes ten times as long, and a second more.",
      "Exit code 0 when nothing differs, 1 when something does, 2 when a file cannot be compared."
    })
final class BringupCompareCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private BringupCommand bringup;

  @Parameters(index = "0", paramLabel = "<old>", description = "The old report.")
  private Path before;

  @Parameters(index = "1", paramLabel = "<new>", description = "The new report.")
  private Path after;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() {
    bringup.checkOptionsFollow(spec);
    PrintWriter out = spec.commandLine().getOut();
    ReportComparison comparison;
    try {
      RecordedReport old = read(before);
      comparison = ReportComparison.of(old, read(after));
    } catch (UnreadableReportException e) {
      spec.commandLine().getErr().println("hghca: " + e.getMessage());
      return ExitCode.USAGE.code();
    }
    if (json) {
      out.println(Json.document(json(comparison)));
    } else {
      print(comparison, out);
    }
    out.flush();
    return (comparison.differences().isEmpty() ? ExitCode.OK : ExitCode.FAILED).code();
  }

  private static Map<String, Object> json(ReportComparison comparison) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("context", comparison.context());
    json.put("differences", comparison.differences());
    json.put("steps", comparison.steps());
    json.put("timings", comparison.timings());
    json.put("repeated", comparison.isRepeated());
    return json;
  }

  private static void print(ReportComparison comparison, PrintWriter out) {
    comparison.context().forEach(line -> out.println("(" + line + ")"));
    comparison.differences().forEach(out::println);
    int differences = comparison.differences().size();
    out.println(
        "%s; %d steps, %d times and speeds compared%s"
            .formatted(
                differences == 0
                    ? "no difference"
                    : "%d difference%s".formatted(differences, differences == 1 ? "" : "s"),
                comparison.steps(),
                comparison.timings(),
                comparison.isRepeated() ? "" : " (--repeat=5 on both shows smaller ones)"));
  }

  private static RecordedReport read(Path file) {
    try {
      return ReportReader.read(file.toString(), Files.readString(file));
    } catch (IOException e) {
      throw new UnreadableReportException(
          "%s cannot be read: %s".formatted(file, FileFailure.why(e)));
    }
  }
}

package org.hghca.programs.perf.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Json;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.compare.Comparison;
import org.hghca.programs.perf.compare.Difference;
import org.hghca.programs.perf.compare.Results;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca perf compare}: what changed between two sets of results. */
@Command(
    name = "compare",
    description = {
      "Compare results that --out_json of perftest or of hghca perf wrote, by test and size.",
      "Repeat runs on both sides: the interval is Welch's, of the difference of the means, in"
          + " percent of the old one. If it spans 0, no difference is shown."
    })
final class PerfCompareCommand implements Callable<Integer>, OutlivesReader {
  private static final String ROW = "%-34s %4s %8s  %-13s %14s %14s %10s  %-22s %s";

  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "<old>", description = "JSON of the old results.")
  private Path before;

  @Parameters(index = "1", paramLabel = "<new>", description = "JSON of the new results.")
  private Path after;

  @Option(
      names = "--old",
      paramLabel = "<file>",
      description = "More old results. May be given more than once.")
  private List<Path> moreBefore = List.of();

  @Option(
      names = "--new",
      paramLabel = "<file>",
      description = "More new results. May be given more than once.")
  private List<Path> moreAfter = List.of();

  @Option(
      names = "--confidence",
      paramLabel = "<percent>",
      description = "Of the interval, 50 to 99.9 (default: ${DEFAULT-VALUE}).")
  private double confidence = 95;

  @Option(
      names = "--max-loss",
      paramLabel = "<percent>",
      description =
          "Exit with 1 when a figure is worse by more than this, unless its interval spans 0, or"
              + " when the new results lack one. Figures without repetition count.")
  private Double most;

  @Option(names = "--json", description = "Print one JSON document instead of text.")
  private boolean json;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(confidence >= 50 && confidence <= 99.9, "--confidence must be from 50 to 99.9");
    check.that(most == null || most >= 0, "--max-loss must be 0 or more");
    Comparison comparison =
        Comparison.of(results(before, moreBefore), results(after, moreAfter), confidence / 100);
    if (comparison.differences().isEmpty()) {
      throw new PerfException("the two sides have no test and size in common");
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.document(json(comparison)));
      out.flush();
    } else {
      print(comparison, out);
    }
    boolean holds = most == null || comparison.holds(most);
    if (!holds) {
      spec.commandLine().getErr().println("hghca: more is lost than --max-loss allows");
    }
    return (holds ? ExitCode.OK : ExitCode.FAILED).code();
  }

  private static Results results(Path first, List<Path> more) {
    List<Path> files = new ArrayList<>(List.of(first));
    files.addAll(more);
    Results results = new Results();
    files.forEach(file -> results.add(file.toString(), read(file)));
    return results;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new PerfException("%s: %s".formatted(file, FileFailure.why(e)), e);
    }
  }

  private void print(Comparison comparison, PrintWriter out) {
    out.println(
        ROW.formatted(
                "test",
                "QPs",
                "bytes",
                "figure",
                "old (runs)",
                "new (runs)",
                "change",
                "%s %% interval".formatted(Double.toString(confidence).replaceAll("\\.0$", "")),
                "")
            .stripTrailing());
    comparison.differences().forEach(each -> out.println(row(each)));
    comparison.onlyOld().forEach(series -> out.println("only old: " + series));
    comparison.onlyNew().forEach(series -> out.println("only new: " + series));
    out.flush();
  }

  private Map<String, Object> json(Comparison comparison) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("confidence", confidence);
    json.put("differences", comparison.differences().stream().map(this::json).toList());
    json.put("only_old", comparison.onlyOld().stream().map(Object::toString).toList());
    json.put("only_new", comparison.onlyNew().stream().map(Object::toString).toList());
    return json;
  }

  private Map<String, Object> json(Difference each) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("test", each.series().test());
    json.put("queue_pairs", each.series().pairs());
    json.put("bytes", each.series().size());
    json.put("figure", each.series().metric().key());
    json.put("old", each.oldMean());
    json.put("old_runs", each.before().size());
    json.put("new", each.newMean());
    json.put("new_runs", each.after().size());
    json.put("change_percent", each.percent());
    each.low().ifPresent(low -> json.put("interval_low_percent", low));
    each.high().ifPresent(high -> json.put("interval_high_percent", high));
    json.put("verdict", each.verdict().text());
    json.put("lost", most != null && each.exceeds(most));
    return json;
  }

  private String row(Difference each) {
    String interval =
        each.low()
            .map(low -> "%s to %s".formatted(percent(low), percent(each.high().orElseThrow())))
            .orElse("");
    boolean lost = most != null && each.exceeds(most);
    return ROW.formatted(
        each.series().test(),
        each.series().pairs(),
        each.series().size(),
        each.series().metric().key(),
        "%.2f (%d)".formatted(each.oldMean(), each.before().size()),
        "%.2f (%d)".formatted(each.newMean(), each.after().size()),
        percent(each.percent()),
        interval,
        each.verdict().text() + (lost ? ", LOST" : ""));
  }

  private static String percent(double value) {
    return "%+.1f %%".formatted(value);
  }
}

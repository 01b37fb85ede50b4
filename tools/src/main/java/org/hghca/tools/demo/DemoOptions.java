package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.Json;
import org.hghca.tools.info.CounterReport;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of a demo for its measurements and its output. */
final class DemoOptions {
  /** The size that fits one scatter/gather element of every device. */
  private static final int MAX_SIZE = 1 << 20;

  @Option(
      names = "--seconds",
      paramLabel = "<n>",
      description = "How long to measure in all, 0 to 3600 (default: ${DEFAULT-VALUE}).")
  private double seconds = 1;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<bytes>",
      description =
          "Bytes of a message where throughput is measured, 8 to 1048576 (default:"
              + " ${DEFAULT-VALUE}).")
  private int size = 64 * 1024;

  @Option(names = "--counters", description = "Print the counters of each side in this process.")
  private boolean counters;

  @Option(
      names = "--json",
      description = "Print the result, or what failed, as JSON and nothing else.")
  private boolean json;

  /**
   * Checks the ranges.
   *
   * @throws ParameterException when a value is out of its range
   */
  void check(CommandSpec spec) {
    if (!(seconds >= 0 && seconds <= 3600)) {
      throw new ParameterException(spec.commandLine(), "--seconds must be from 0 to 3600");
    }
    if (size < 8 || size > MAX_SIZE) {
      throw new ParameterException(spec.commandLine(), "--size must be from 8 to " + MAX_SIZE);
    }
  }

  long nanos() {
    return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
  }

  int size() {
    return size;
  }

  /** The output of the steps. */
  PrintWriter steps(PrintWriter out) {
    return json ? new PrintWriter(Writer.nullWriter()) : out;
  }

  void print(PrintWriter out, DemoResult result) {
    Map<String, Map<String, Long>> counted = new LinkedHashMap<>();
    if (counters) {
      result.counters().forEach((role, values) -> counted.put(role, CounterReport.values(values)));
    }
    if (json) {
      Map<String, Object> object = result.toJson();
      if (counters) {
        object.put("counters", counted);
      }
      out.println(Json.document(object));
    } else {
      CounterReport.print(out, "", counted);
    }
  }

  /** Prints the failure, if the output is JSON. */
  void printFailure(
      PrintWriter out, String server, String client, List<String> checks, Exception failure) {
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("server", server);
      object.put("client", client);
      object.put("checks", checks);
      object.put("error", failure.getMessage());
      out.println(Json.document(object));
    }
  }
}

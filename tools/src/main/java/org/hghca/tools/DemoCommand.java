package org.hghca.tools;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.demo.Demo;
import org.hghca.tools.demo.DemoResult;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code hghca demo}: the classic example of a reliable connection, atomics, datagrams, then how
 * fast it goes.
 */
@Command(
    name = "demo",
    description = {
      "Connect two HCAs and move data between them: SEND, RDMA READ, RDMA WRITE, atomics and"
          + " datagrams, each verified.",
      "Then measure for a second. The HCAs are software HCAs joined by a cable, unless others are"
          + " named."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
final class DemoCommand implements Callable<Integer> {
  private static final List<String> SOFTWARE_HCAS =
      List.of("model:left?cable=demo", "model:right?cable=demo");

  /** What fits one scatter/gather element of every device. */
  private static final int MAX_SIZE = 1 << 20;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "<dev>",
      description =
          "Name or locator of a device: once for both sides, or once for server and once for"
              + " client.")
  private List<String> devices = List.of();

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

  @Option(names = "--counters", description = "Print what each side counted.")
  private boolean counters;

  @Option(names = "--json", description = "Print the result as JSON, and nothing else.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    check(devices.size() <= 2, "Two sides, so at most two devices: --ib-dev was given more often");
    check(seconds >= 0 && seconds <= 3600, "--seconds must be from 0 to 3600");
    check(size >= 8 && size <= MAX_SIZE, "--size must be from 8 to " + MAX_SIZE);
    List<String> sides = devices;
    if (sides.isEmpty()) {
      spec.commandLine()
          .getErr()
          .println("hghca: using two embedded software HCAs; name others with --ib-dev");
      sides = SOFTWARE_HCAS;
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter steps = json ? new PrintWriter(Writer.nullWriter()) : out;
    DemoResult result =
        new Demo(sides.getFirst(), sides.getLast(), steps)
            .run((long) (seconds * TimeUnit.SECONDS.toNanos(1)), size);
    Map<String, Map<String, Long>> counted = new LinkedHashMap<>();
    if (counters) {
      result.counters().forEach((role, values) -> counted.put(role, CounterReport.values(values)));
    }
    if (json) {
      Map<String, Object> object = result.toJson();
      if (counters) {
        object.put("counters", counted);
      }
      out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(object));
    } else {
      CounterReport.print(out, "", counted);
    }
    return 0;
  }

  private void check(boolean holds, String message) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }
}

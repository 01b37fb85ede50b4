package org.hghca.tools;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.demo.CheckFailedException;
import org.hghca.tools.demo.Demo;
import org.hghca.tools.demo.DemoResult;
import org.hghca.tools.demo.NotOpenedException;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * {@code hghca demo}: the classic example of a reliable connection, atomics, datagrams, then
 * performance.
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

  /** The size that fits one scatter/gather element of every device. */
  private static final int MAX_SIZE = 1 << 20;

  @Spec private CommandSpec spec;
  @ParentCommand private Main main;

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

  @Option(names = "--counters", description = "Print the counters of each side.")
  private boolean counters;

  @Option(
      names = "--json",
      description = "Print the result, or what failed, as JSON and nothing else.")
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
    Demo demo = new Demo(sides.getFirst(), sides.getLast(), steps);
    DemoResult result;
    try {
      result = demo.run((long) (seconds * TimeUnit.SECONDS.toNanos(1)), size);
    } catch (CheckFailedException | NotOpenedException | VerbsException e) {
      if (json) {
        printJson(failure(sides, demo, e));
      }
      main.complain(e);
      if (e instanceof CheckFailedException) {
        unconnected(sides).ifPresent(hint -> spec.commandLine().getErr().println(hint));
      }
      return Main.exitCode(e).code();
    }
    Map<String, Map<String, Long>> counted = new LinkedHashMap<>();
    if (counters) {
      result.counters().forEach((role, values) -> counted.put(role, CounterReport.values(values)));
    }
    if (json) {
      Map<String, Object> object = result.toJson();
      if (counters) {
        object.put("counters", counted);
      }
      printJson(object);
    } else {
      CounterReport.print(out, "", counted);
    }
    return ExitCode.OK.code();
  }

  private void printJson(Map<String, Object> object) throws IOException {
    spec.commandLine()
        .getOut()
        .println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(object));
  }

  private static Map<String, Object> failure(List<String> sides, Demo demo, Exception e) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("server", sides.getFirst());
    json.put("client", sides.getLast());
    json.put("checks", demo.checks());
    json.put("error", e.getMessage());
    return json;
  }

  /** The likely cause if two software HCAs do not reach each other. */
  private static Optional<String> unconnected(List<String> sides) {
    List<Optional<String>> cables =
        sides.stream()
            .filter(side -> side.startsWith("model:"))
            .map(side -> Locator.parse(side).parameter("cable"))
            .toList();
    boolean joined =
        cables.size() < 2
            || sides.getFirst().equals(sides.getLast())
            || cables.getFirst().isPresent() && cables.getFirst().equals(cables.getLast());
    return joined
        ? Optional.empty()
        : Optional.of(
            "hghca: no cable joins %s and %s: name the same one in both, as in %s"
                .formatted(sides.getFirst(), sides.getLast(), String.join(" and ", SOFTWARE_HCAS)));
  }

  private void check(boolean holds, String message) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }
}

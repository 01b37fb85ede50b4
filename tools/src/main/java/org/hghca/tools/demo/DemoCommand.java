package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.TraceOption;
import org.hghca.tools.launch.Launcher;
import org.hghca.tools.launch.OptionPlace;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
          + " named. The commands server and client run it between two processes or machines."
    },
    subcommands = {DemoServerCommand.class, DemoClientCommand.class})
public final class DemoCommand implements Callable<Integer>, OutlivesReader {
  private static final List<String> SOFTWARE_HCAS =
      List.of("model:left?cable=demo", "model:right?cable=demo");

  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description =
          "Name or locator of a device: once for both sides, or once for server and once for"
              + " client.")
  private List<String> devices = List.of();

  @Mixin private DemoOptions options;
  @Mixin private TraceOption trace;

  @Override
  public Integer call() {
    return trace.around(this::run);
  }

  private int run() {
    if (devices.size() > 2) {
      throw new ParameterException(
          spec.commandLine(), "Two sides, so at most two devices: --ib-dev was given more often");
    }
    options.check(spec);
    List<String> sides = devices;
    if (sides.isEmpty()) {
      spec.commandLine()
          .getErr()
          .println("hghca: using two embedded software HCAs; name others with --ib-dev");
      sides = SOFTWARE_HCAS;
    }
    PrintWriter out = spec.commandLine().getOut();
    Demo demo =
        new Demo(trace.traced(sides.getFirst()), trace.traced(sides.getLast()), options.steps(out));
    try {
      options.print(out, demo.run(options.nanos(), options.size()));
      return ExitCode.OK.code();
    } catch (CheckFailedException | NotOpenedException | VerbsException e) {
      options.printFailure(out, sides.getFirst(), sides.getLast(), demo.checks(), e);
      main.complain(e);
      if (e instanceof CheckFailedException) {
        unconnected(sides).ifPresent(hint -> spec.commandLine().getErr().println(hint));
      }
      return main.exitCode(e).code();
    }
  }

  /**
   * Checks that the options of a command of the demo follow its name.
   *
   * @throws ParameterException when one precedes it, which only the demo in one process would use
   */
  void checkOptionsFollow(CommandSpec command) {
    OptionPlace.check(spec, command);
  }

  /** The command line of which this is a command. */
  Launcher main() {
    return main;
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
}

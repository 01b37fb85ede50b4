package org.hghca.programs.perf.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.hghca.programs.CNumber;
import org.hghca.programs.DeviceOption;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Interruption;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.TraceOption;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.ClientAmount;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.session.PerfSession;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca perf ib_...}: one program of perftest. */
@Command
public final class PerfTestCommand implements Callable<Integer>, OutlivesReader {
  private static final int LAST_PORT = 65_535;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOption device;
  @Mixin private PerfAmountOptions amount;
  @Mixin private PerfQueueOptions queues;
  @Mixin private PerfRouteOptions route;
  @Mixin private PerfGroupOptions groups;
  @Mixin private PerfReportOptions report;
  @Mixin private PerfPageOption page;
  @Mixin private TraceOption trace;

  @CommandLine.Parameters(
      arity = "0..1",
      paramLabel = "<host>",
      description = "The server; without it, this is the server.")
  private String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "<port>",
      converter = CNumber.class,
      description = "TCP port of the server (default: ${DEFAULT-VALUE}).")
  private int port = 18_515;

  @Option(
      names = {"-c", "--connection"},
      paramLabel = "<type>",
      description =
          "RC, UC (SEND and RDMA WRITE) or UD (SEND); XRC, DC and SRD are not supported"
              + " (default: RC; UD with -g).")
  private String connection;

  private final PerfTest test;

  private PerfTestCommand(PerfTest test) {
    this.test = test;
  }

  /** The command of a program. */
  public static CommandLine commandLine(PerfTest test) {
    CommandLine command = new CommandLine(new PerfTestCommand(test));
    CommandSpec spec = command.getCommandSpec().name(test.program());
    spec.usageMessage()
        .description(
            "%s of %s, as %s of perftest measures it."
                .formatted(
                    test.isBandwidth() ? "Throughput" : "Latency",
                    switch (test.verb()) {
                      case SEND -> "SENDs";
                      case WRITE -> "RDMA WRITEs";
                      case READ -> "RDMA READs";
                      case ATOMIC -> "atomics";
                    },
                    test.program()));
    PerfRefusals.addTo(spec);
    return command;
  }

  @Override
  public Integer call() {
    UnsupportedOptions.refuse(spec);
    Parameters parameters = parameters();
    boolean canBeWritten = page.canBeWritten() && report.canBeWritten(spec.commandLine().getErr());
    return canBeWritten ? trace.around(() -> run(parameters)) : ExitCode.NO_OUTPUT.code();
  }

  /** Only where it also writes a file. */
  @Override
  public boolean outlivesReader() {
    return page.isWanted() || trace.isWanted() || report.writesFile();
  }

  /** What the options of a program ask for. */
  public static Parameters parameters(PerfTest test, String... options) {
    PerfTestCommand command = new PerfTestCommand(test);
    new CommandLine(command).parseArgs(options);
    return command.parameters();
  }

  private Parameters parameters() {
    OptionCheck check = new OptionCheck(spec);
    check.range("-p", port, 1, LAST_PORT);
    QpType type = type();
    Parameters.Queues filled = queues.queues(check, test, type, amount);
    return new Parameters(
        test,
        type,
        amount.amount(check, test, type, filled),
        filled,
        route.route(check, type, groups.multicast(check, filled)),
        report.report(check, test, amount));
  }

  private Parameters leaveTo(ClientAmount client) {
    amount.leaveTo(client);
    try {
      return parameters();
    } catch (ParameterException e) {
      throw new PerfException(
          "what the client measures does not go with the options here: " + e.getMessage(), e);
    }
  }

  private QpType type() {
    OptionCheck check = new OptionCheck(spec);
    boolean multicast = groups.isMulticast(check, test);
    String usual = multicast ? "UD" : "RC";
    String name = connection == null ? usual : connection.toUpperCase(Locale.ROOT);
    check.that(
        name.equals("RC") || name.equals("UC") || name.equals("UD"),
        "-c %s is not supported: the device has RC, UC and UD".formatted(connection));
    QpType type = QpType.valueOf(name);
    check.that(
        type != QpType.UD || test.verb() == Verb.SEND,
        "UD connection only possible in SEND verb: -c");
    check.that(
        type == QpType.UD || !multicast,
        "-c %s is not supported with -g: multicast runs on UD".formatted(connection));
    check.that(
        type != QpType.UC || !(test.verb() == Verb.READ || test.verb() == Verb.ATOMIC),
        "UC connection not possible in READ/ATOMIC verbs: -c");
    return type;
  }

  private Integer run(Parameters parameters) {
    PrintWriter out = page.text();
    PrintWriter err = spec.commandLine().getErr();
    Thread running = Thread.currentThread();
    try (Device opened = open(parameters.route(), err);
        Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED);
        ProgressLine line = ProgressLine.on(spec.commandLine())) {
      List<Figure> figures = new ArrayList<>();
      PerfSession session =
          new PerfSession(
              parameters,
              this::leaveTo,
              opened,
              out,
              err,
              figures::add,
              line.named(parameters.test().program()));
      Optional<String> host = Optional.ofNullable(server);
      boolean whole = runs(session, host);
      boolean written = true;
      if (whole || !figures.isEmpty()) {
        written = report.write(session.document(), out, err);
        if (page.isWanted()) {
          written &=
              page.write(
                  PerfFacts.report(
                      opened, session.parameters(), spec, host, figures, session.courses()));
        }
      }
      if (whole && !written) {
        return ExitCode.NO_OUTPUT.code();
      }
      ExitCode end = session.isWithinLimits() ? ExitCode.OK : ExitCode.FAILED;
      return (whole ? end : ExitCode.INTERRUPTED).code();
    }
  }

  /** Whether it came to its end; otherwise the thread was interrupted. */
  private boolean runs(PerfSession session, Optional<String> host) {
    try {
      return session.run(host, port);
    } catch (InterruptedException _) {
      return false;
    }
  }

  private Device open(Parameters.Route on, PrintWriter err) {
    try {
      return Device.open(trace.traced(device.name(err)), on);
    } catch (VerbsException e) {
      throw new NotOpenedException(e);
    }
  }
}

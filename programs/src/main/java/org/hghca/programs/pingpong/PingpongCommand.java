package org.hghca.programs.pingpong;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.hghca.programs.CNumber;
import org.hghca.programs.DeviceOption;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Interruption;
import org.hghca.programs.Ipv6Text;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca rc_pingpong} and the others: the ping-pongs of libibverbs, with the originals. */
@Command(exitCodeOnInvalidInput = 1)
public final class PingpongCommand implements Callable<Integer> {
  private static final int LAST_TCP_PORT = 65_535;
  private static final int LAST_PORT = 255;
  private static final int LAST_SERVICE_LEVEL = 15;
  private static final int MOST_RECEIVES = 1 << 24;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOption device;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "<host>",
      description = "The server to connect to; without one this is the server.")
  private String host;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "<port>",
      converter = CNumber.class,
      description = "TCP port of the server (default: ${DEFAULT-VALUE}).")
  private int tcpPort = 18515;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "<port>",
      converter = CNumber.class,
      description = "Port of the device, from 1 (default: ${DEFAULT-VALUE}).")
  private int port = 1;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "<dep>",
      converter = CNumber.class,
      description = "Receives that are posted at a time (default: ${DEFAULT-VALUE}).")
  private int depth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "<iters>",
      converter = CNumber.class,
      description = "Messages in each direction, over all queue pairs (default: ${DEFAULT-VALUE}).")
  private int iterations = 1000;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "<sl>",
      converter = CNumber.class,
      description = "Service level, 0 to 15 (default: ${DEFAULT-VALUE}).")
  private int serviceLevel;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep until completions come (default: poll).")
  private boolean events;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "<gid index>",
      converter = CNumber.class,
      description = "Index of the own GID; Ethernet needs one (default: none).")
  private int gidIndex = -1;

  @Option(
      names = {"-c", "--chk"},
      description =
          "A client sets the first byte of each page of the message to 0; a server says at its end"
              + " where it is not.")
  private boolean check;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<size>",
      converter = CNumber.class,
      description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
  private int size;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "<size>",
      converter = CNumber.class,
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 (default: ${DEFAULT-VALUE}).")
  private int mtu = 1024;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "<num>",
      converter = CNumber.class,
      description = "Queue pairs, at most 255 (default: ${DEFAULT-VALUE}).")
  private int queuePairs;

  private final Variant variant;

  private PingpongCommand(Variant variant) {
    this.variant = variant;
    size = variant.type() == QpType.UD ? 1024 : 4096;
    queuePairs = variant.shares() ? 16 : 1;
  }

  /** The command of a program. */
  public static CommandLine commandLine(Variant variant) {
    CommandLine command = new CommandLine(new PingpongCommand(variant));
    CommandSpec spec = command.getCommandSpec().name(variant.program());
    spec.usageMessage().description(variant.description(), "Either end may be the original.");
    if (!variant.shares()) {
      spec.remove(spec.findOption("-q"));
    }
    if (variant.type() == QpType.UD) {
      spec.remove(spec.findOption("-m"));
      OptionSpec size = spec.findOption("-s");
      spec.remove(size);
      String most = "Bytes of a message, at most the port's MTU (default: ${DEFAULT-VALUE}).";
      spec.addOption(size.toBuilder().description(most).build());
    }
    for (Variant.Refused refused : variant.refused()) {
      spec.addOption(
          OptionSpec.builder(refused.option(), refused.name())
              .arity("0")
              .type(boolean.class)
              .description(UnsupportedOptions.START + refused.reason())
              .build());
    }
    return command;
  }

  /** Runs it; Ctrl-C and SIGTERM end it. */
  @Override
  public Integer call() {
    UnsupportedOptions.refuse(spec);
    OptionCheck required = new OptionCheck(spec);
    required.range("-p", tcpPort, 0, LAST_TCP_PORT);
    required.range("-i", port, 1, LAST_PORT);
    required.range("-s", size, 1, Integer.MAX_VALUE);
    required.range("-q", queuePairs, 1, Integer.MAX_VALUE);
    required.range("-r", depth, 1, MOST_RECEIVES);
    required.range("-n", iterations, 1, Integer.MAX_VALUE);
    required.range("-l", serviceLevel, 0, LAST_SERVICE_LEVEL);
    required.range("-g", gidIndex, -1, Integer.MAX_VALUE);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Options options =
        new Options(
            device.name(err),
            Optional.ofNullable(host),
            tcpPort,
            port,
            size,
            pathMtu(),
            queuePairs,
            depth,
            iterations,
            serviceLevel,
            events,
            gidIndex < 0 ? OptionalInt.empty() : OptionalInt.of(gidIndex),
            check);
    Thread running = Thread.currentThread();
    try (Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED)) {
      return new Pingpong(variant, options, Ipv6Text::of, out, err).run();
    } catch (InterruptedException e) {
      return ExitCode.INTERRUPTED.code();
    }
  }

  private Mtu pathMtu() {
    for (Mtu one : Mtu.values()) {
      if (one.bytes() == mtu) {
        return one;
      }
    }
    throw new ParameterException(
        spec.commandLine(), "-m must be 256, 512, 1024, 2048 or 4096, not " + mtu);
  }
}

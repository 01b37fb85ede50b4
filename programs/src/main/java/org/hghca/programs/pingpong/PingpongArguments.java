package org.hghca.programs.pingpong;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.programs.CNumber;
import org.hghca.programs.DeviceOption;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Interruption;
import org.hghca.programs.Ipv6Text;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.verbs.Mtu;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** What the ping-pongs of libibverbs have in common on the command line, and how they end. */
final class PingpongArguments {
  private static final int LAST_TCP_PORT = 65_535;
  private static final int LAST_PORT = 255;
  private static final int LAST_SERVICE_LEVEL = 15;
  private static final int MOST_RECEIVES = 1 << 24;

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

  /**
   * Runs a ping-pong of one queue pair.
   *
   * @return its exit code
   */
  int run(CommandSpec spec, Variant variant, int size, Mtu mtu) {
    return run(spec, variant, size, mtu, 1);
  }

  /** Runs a ping-pong; Ctrl-C and SIGTERM end it. */
  int run(CommandSpec spec, Variant variant, int size, Mtu mtu, int queuePairs) {
    UnsupportedOptions.refuse(spec);
    requireRange(spec, "-p", tcpPort, 0, LAST_TCP_PORT);
    requireRange(spec, "-i", port, 1, LAST_PORT);
    requireRange(spec, "-s", size, 1, Integer.MAX_VALUE);
    requireRange(spec, "-q", queuePairs, 1, Integer.MAX_VALUE);
    requireRange(spec, "-r", depth, 1, MOST_RECEIVES);
    requireRange(spec, "-n", iterations, 1, Integer.MAX_VALUE);
    requireRange(spec, "-l", serviceLevel, 0, LAST_SERVICE_LEVEL);
    requireRange(spec, "-g", gidIndex, -1, Integer.MAX_VALUE);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Options options =
        new Options(
            device.name(err),
            Optional.ofNullable(host),
            tcpPort,
            port,
            size,
            mtu,
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

  private static void requireRange(
      CommandSpec spec, String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new ParameterException(
          spec.commandLine(),
          "%s must be from %d to %d, not %d".formatted(option, least, most, value));
    }
  }
}

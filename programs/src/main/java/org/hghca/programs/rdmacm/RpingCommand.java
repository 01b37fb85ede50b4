package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.hghca.programs.OptionCheck;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca rping}: the pings of rping, with itself and with the original. */
@Command(
    name = "rping",
    description = {
      "Ping by RDMA, as rping of rdma-core does: the server reads the client's data by RDMA READ"
          + " and writes it back by RDMA WRITE (-d names the device; use --debug for the"
          + " original's -d).",
      "Either end may be the original."
    })
public final class RpingCommand implements Callable<Integer> {
  private static final int LEAST_SIZE = 23;
  private static final int MOST_SIZE = 65_535;

  @Spec private CommandSpec spec;

  /** Not the standard options, whose -V is another. */
  @SuppressWarnings("UnusedVariable") // it is the library that acts on it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help message and exit.")
  private boolean help;

  @SuppressWarnings("UnusedVariable") // the same
  @Option(
      names = "--version",
      versionHelp = true,
      description = "Print version information and exit.")
  private boolean version;

  @Mixin private RdmacmDevice device;

  @ArgGroup(multiplicity = "1")
  private Side side;

  static final class Side {
    @Option(names = "-s", required = true, description = "Be the server.")
    private boolean server;

    @Option(names = "-c", required = true, description = "Be the client.")
    private boolean client;
  }

  @Option(
      names = "-a",
      paramLabel = "<addr>",
      description = "Address of the server (default for a server: all of the device).")
  private String address;

  @Option(names = "-I", paramLabel = "<addr>", description = "Address of the client.")
  private String local;

  @Option(
      names = "-p",
      paramLabel = "<port>",
      description = "Port of the server (default: ${DEFAULT-VALUE}).")
  private int port = 7174;

  @Option(names = "-v", description = "Print the data of each ping.")
  private boolean verbose;

  @Option(names = "-V", description = "Validate the data of each ping; a client's option.")
  private boolean validate;

  @Option(
      names = "-S",
      paramLabel = "<size>",
      description =
          "Bytes of a ping, 23 to 65535, the same at both ends (default: ${DEFAULT-VALUE}).")
  private int size = 64;

  @Option(
      names = "-C",
      paramLabel = "<count>",
      description =
          "Pings of a client (default: without end). A server serves until its client ends.")
  private int count;

  @Option(names = "-P", description = "Serve any number of clients, until Ctrl-C.")
  private boolean persistent;

  @Option(names = "-q", description = "Not supported: a queue pair that rping modifies itself.")
  private boolean ownQueuePair;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(!ownQueuePair, "-q is not supported: queue pairs are the connection manager's");
    check.that(
        size >= LEAST_SIZE && size <= MOST_SIZE,
        "Invalid size %d (valid range is %d to %d)".formatted(size, LEAST_SIZE, MOST_SIZE));
    check.that(count >= 0, "Invalid count " + count);
    check.that(side.server || address != null, "a client needs -a, the address of its server");
    check.that(side.client || local == null, "-I is an option of the client");
    check.that(side.client || !validate, "-V is an option of the client");
    check.that(side.server || !persistent, "-P is an option of the server");
    InetSocketAddress server = RdmacmAddress.of(spec, address == null ? "0.0.0.0" : address, port);
    Rping.Options options =
        new Rping.Options(
            side.server,
            server,
            RdmacmAddress.local(spec, local),
            size,
            count,
            verbose,
            validate,
            persistent);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    return device.run(spec, endpoint -> new Rping(options, endpoint, out, err).run());
  }
}

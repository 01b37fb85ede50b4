package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca rdma-client} and {@code rdma-server}: the peer is the original or ours. */
@Command
public final class RdmaMessageCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;

  @Option(names = "-s", paramLabel = "<server_address>")
  private String server;

  @Option(
      names = "-p",
      paramLabel = "<port_number>",
      description = "Port of the server (default: ${DEFAULT-VALUE}).")
  private int port = 7471;

  private final boolean client;

  private RdmaMessageCommand(boolean client) {
    this.client = client;
    server = client ? "127.0.0.1" : "0.0.0.0";
  }

  public static CommandLine client() {
    return commandLine(
        new RdmaMessageCommand(true),
        "rdma-client",
        "Connect, exchange one message of 16 bytes and disconnect, as rdma_client of rdma-core"
            + " does.",
        "Address of the server (default: ${DEFAULT-VALUE}).");
  }

  public static CommandLine server() {
    return commandLine(
        new RdmaMessageCommand(false),
        "rdma-server",
        "Take one connection and exchange one message of 16 bytes, as rdma_server of rdma-core"
            + " does.",
        "Address to listen on (default: ${DEFAULT-VALUE}, all of the device).");
  }

  private static CommandLine commandLine(
      RdmaMessageCommand command, String name, String description, String address) {
    CommandLine line = new CommandLine(command);
    CommandSpec spec = line.getCommandSpec().name(name);
    spec.usageMessage().description(description);
    OptionSpec server = spec.findOption("-s");
    OptionSpec port = spec.findOption("-p");
    spec.remove(server);
    spec.remove(port);
    spec.addOption(server.toBuilder().description(address).build());
    spec.addOption(port);
    return line;
  }

  @Override
  public Integer call() {
    InetSocketAddress address = RdmacmAddress.of(spec, server, port);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    return device.run(
        spec,
        endpoint -> {
          RdmaMessage program = new RdmaMessage(endpoint, out, err);
          return client ? program.client(address) : program.serve(address);
        });
  }
}

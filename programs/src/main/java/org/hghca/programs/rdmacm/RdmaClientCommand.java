package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.hghca.programs.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca rdma-client}: the client of rdma_server, the original or ours. */
@Command(
    name = "rdma-client",
    description =
        "Connect, exchange one message of 16 bytes and disconnect, as rdma_client of rdma-core"
            + " does.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class RdmaClientCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;

  @Option(
      names = "-s",
      paramLabel = "<server_address>",
      description = "Address of the server (default: ${DEFAULT-VALUE}).")
  private String server = "127.0.0.1";

  @Option(
      names = "-p",
      paramLabel = "<port_number>",
      description = "Port of the server (default: ${DEFAULT-VALUE}).")
  private int port = 7471;

  @Override
  public Integer call() {
    InetSocketAddress address = RdmacmAddress.of(spec, server, port);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    return device.run(spec, endpoint -> new RdmaMessage(endpoint, out, err).client(address));
  }
}

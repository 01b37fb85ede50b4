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

/** {@code hghca rdma-server}: the server of rdma_client, the original or ours. */
@Command(
    name = "rdma-server",
    description =
        "Take one connection and exchange one message of 16 bytes, as rdma_server of rdma-core"
            + " does.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class RdmaServerCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;

  @Option(
      names = "-s",
      paramLabel = "<server_address>",
      description = "Address to listen on (default: ${DEFAULT-VALUE}, all of the device).")
  private String server = "0.0.0.0";

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
    return device.run(spec, endpoint -> new RdmaMessage(endpoint, out, err).serve(address));
  }
}

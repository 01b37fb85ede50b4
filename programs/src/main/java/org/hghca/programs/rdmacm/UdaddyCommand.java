package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca udaddy}: the datagrams of udaddy, with itself and with the original. */
@Command(
    name = "udaddy",
    description = {
      "Ask for UD queue pairs by address and send datagrams both ways, as udaddy of rdma-core"
          + " does.",
      "Without -s it is the server. Either end may be the original. Its port is always 7174."
    })
public final class UdaddyCommand implements Callable<Integer> {
  private static final int PORT = 7174;

  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;
  @Mixin private RdmacmAddressing addressing;
  @Mixin private RdmacmMessages messages;

  @Option(
      names = "-P",
      paramLabel = "<port_space>",
      description = "udp; ipoib is not supported (default: ${DEFAULT-VALUE}).")
  private String portSpace = "udp";

  @Option(
      names = "-p",
      paramLabel = "<port_space>",
      description = "The same as a number; 0x2 is not supported (default: ${DEFAULT-VALUE}).")
  private String portSpaceNumber = "0x111";

  @Override
  public Integer call() {
    RdmacmAddressing.requireValue(spec, "-P", portSpace, "udp");
    RdmacmAddressing.requireValue(spec, "-p", portSpaceNumber, "0x111", "273");
    Udaddy.Options options =
        new Udaddy.Options(
            addressing.server(spec, PORT),
            addressing.local(spec, PORT),
            messages.connections(spec),
            messages.messages(spec),
            addressing.typeOfService(spec));
    PrintWriter out = spec.commandLine().getOut();
    return device.run(spec, endpoint -> new Udaddy(options, endpoint, out).run());
  }
}

package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca ucmatose}: connections and messages of ucmatose, with itself and the original. */
@Command(
    name = "ucmatose",
    description = {
      "Make reliable connections and send messages both ways, as ucmatose of rdma-core does.",
      "Without -s it is the server. Either end may be the original."
    })
public final class UcmatoseCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;
  @Mixin private RdmacmAddressing addressing;
  @Mixin private RdmacmMessages messages;

  @Option(
      names = "-P",
      paramLabel = "<port_space>",
      description = "tcp; ib is not supported (default: ${DEFAULT-VALUE}).")
  private String portSpace = "tcp";

  @Option(
      names = "-p",
      paramLabel = "<port_number>",
      description = "Port of the server (default: ${DEFAULT-VALUE}).")
  private int port = 7471;

  @Option(names = "-m", description = "Migrate to a new event channel before disconnecting.")
  private boolean migrate;

  @Option(
      names = "-a",
      paramLabel = "<ack_timeout>",
      description = "Code of the ACK timeout, 4.096 us x 2^<ack_timeout>, 0 to 31.")
  private Integer ackTimeout;

  @Override
  public Integer call() {
    RdmacmAddressing.requireValue(spec, "-P", portSpace, "tcp");
    RdmacmAddressing.requireRange(spec, "-a", ackTimeout, 31);
    Ucmatose.Options options =
        new Ucmatose.Options(
            addressing.server(spec, port),
            addressing.local(spec, port),
            messages.connections(spec),
            messages.messages(spec),
            addressing.typeOfService(spec),
            Optional.ofNullable(ackTimeout).map(OptionalInt::of).orElse(OptionalInt.empty()),
            migrate);
    PrintWriter out = spec.commandLine().getOut();
    return device.run(spec, endpoint -> new Ucmatose(options, endpoint, out).run());
  }
}

package org.hghca.tools.sockets;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca sockets}: what the sockets of other programs need. */
@Command(
    name = "sockets",
    description = "Sockets of Java programs over RDMA.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = ArgsCommand.class)
public final class SocketsCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }
}

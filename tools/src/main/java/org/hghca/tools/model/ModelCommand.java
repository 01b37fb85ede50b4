package org.hghca.tools.model;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca model}: subcommands for the software HCA alone. */
@Command(
    name = "model",
    description = "The software HCA by itself.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {ServeCommand.class, FaultsCommand.class})
public final class ModelCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }
}

package org.hghca.tools;

import java.util.List;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca help}: the help of a command, or of a command of a command. */
@Command(
    name = "help",
    helpCommand = true,
    description = "Print the help of a command, such as `help model serve`.")
final class HelpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "<command>", description = "The command, and its command.")
  private List<String> path = List.of();

  @Override
  public Integer call() {
    CommandLine command = spec.parent().commandLine();
    for (String name : path) {
      CommandLine next = command.getSubcommands().get(name);
      if (next == null) {
        throw new ParameterException(
            command,
            "%s has no command '%s'".formatted(command.getCommandSpec().qualifiedName(), name));
      }
      command = next;
    }
    command.usage(spec.commandLine().getOut());
    return ExitCode.OK.code();
  }
}

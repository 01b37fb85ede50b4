package org.hghca.tools.launch;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Where options of a command with commands of its own may be. */
public final class OptionPlace {
  private OptionPlace() {}

  /**
   * Checks that options follow the name of a command.
   *
   * @param parent whose options without a command would mean something else
   * @throws ParameterException when one precedes it
   */
  public static void check(CommandSpec parent, CommandSpec command) {
    List<OptionSpec> before = parent.commandLine().getParseResult().matchedOptions();
    if (!before.isEmpty()) {
      throw new ParameterException(
          command.commandLine(),
          "Options follow the command: give %s after '%s'"
              .formatted(before.getFirst().longestName(), command.qualifiedName()));
    }
  }
}

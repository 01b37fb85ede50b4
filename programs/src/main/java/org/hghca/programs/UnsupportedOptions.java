package org.hghca.programs;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * Options of an original that a command knows and does not have. Their description starts with
 * {@value #START}, and says why.
 */
public final class UnsupportedOptions {
  public static final String START = "Not supported: ";

  private UnsupportedOptions() {}

  /**
   * Refuses such an option, if one was given.
   *
   * @throws ParameterException with its name and the reason
   */
  public static void refuse(CommandSpec spec) {
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      String description = option.description()[0];
      if (description.startsWith(START)) {
        throw new ParameterException(
            spec.commandLine(),
            "%s is not supported: %s"
                .formatted(option.shortestName(), description.substring(START.length())));
      }
    }
  }
}

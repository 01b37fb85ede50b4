package org.hghca.programs;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses values of options. */
public final class OptionCheck {
  private final CommandSpec spec;

  public OptionCheck(CommandSpec spec) {
    this.spec = spec;
  }

  /**
   * Requires a condition.
   *
   * @throws ParameterException when it does not hold
   */
  public void that(boolean holds, String otherwise) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  /** Requires a value from least to most. */
  public void range(String option, long value, long least, long most) {
    that(
        value >= least && value <= most,
        "%s must be from %d to %d, not %d".formatted(option, least, most, value));
  }
}

package org.hghca.programs;

import picocli.CommandLine.Model.CommandSpec;

/** The command of this process, for its reports. */
public final class GivenCommand {
  private GivenCommand() {}

  /** The command line as it was given, in one line. */
  public static String line(CommandSpec spec) {
    return "hghca " + String.join(" ", spec.root().commandLine().getParseResult().originalArgs());
  }
}

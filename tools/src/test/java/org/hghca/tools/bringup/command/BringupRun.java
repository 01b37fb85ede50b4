package org.hghca.tools.bringup.command;

import java.util.Arrays;
import java.util.stream.Stream;
import org.hghca.tools.CommandLineRun;

/** The command {@code bringup} with short measurements. */
final class BringupRun {
  private BringupRun() {}

  static CommandLineRun bringup(String... options) {
    return CommandLineRun.of(
        Stream.concat(Stream.of("bringup", "--seconds", "0.01"), Arrays.stream(options))
            .toArray(String[]::new));
  }
}

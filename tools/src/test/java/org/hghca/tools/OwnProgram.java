package org.hghca.tools;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code hghca} in a process of its own, by the class path of the tests. */
public final class OwnProgram {
  private OwnProgram() {}

  /** The command that runs it, to which options of the JVM may be added at index 1. */
  public static List<String> command(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }
}

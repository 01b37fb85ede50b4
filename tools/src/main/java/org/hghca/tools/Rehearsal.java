package org.hghca.tools;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import org.hghca.vfio.kernel.Machine;

/**
 * Runs what commands run on software HCAs, and prints nothing: {@code tools/sh/start.sh} keeps the
 * classes that this loads for later starts.
 */
final class Rehearsal {
  private static final List<String> COMMANDS =
      List.of(
          "--help",
          "list",
          "info -d model:",
          "info --json -d model:",
          "info --system",
          "top --once",
          "metrics",
          "demo --seconds=0 -d model:");

  private Rehearsal() {}

  /** Runs all commands, in this order. */
  public static void main(String... args) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    for (String command : COMMANDS) {
      Main.run(Machine.local(), Map.of(), nowhere, nowhere, command.split(" "));
    }
  }
}

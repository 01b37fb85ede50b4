package org.hghca.programs.rdmacm;

import org.hghca.programs.OptionCheck;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** How many connections the programs ucmatose, udaddy and mckey make, and what these carry. */
final class RdmacmMessages {
  private static final int MOST_CONNECTIONS = 1000;
  private static final int MOST_MESSAGES = 1000;
  private static final int LONGEST_MESSAGE = 1 << 30;

  @Option(
      names = "-c",
      paramLabel = "<connections>",
      description = "How many, 1 to 1000 (default: ${DEFAULT-VALUE}).")
  private int connections = 1;

  @Option(
      names = "-C",
      paramLabel = "<message_count>",
      description =
          "Messages in each direction of a connection, 0 to 1000 (default: ${DEFAULT-VALUE}).")
  private int count = 10;

  @Option(
      names = "-S",
      paramLabel = "<message_size>",
      description = "Bytes of a message, 0 to 1073741824 (default: ${DEFAULT-VALUE}).")
  private int size = 100;

  int connections(CommandSpec spec) {
    new OptionCheck(spec).range("-c", connections, 1, MOST_CONNECTIONS);
    return connections;
  }

  Messages messages(CommandSpec spec) {
    OptionCheck check = new OptionCheck(spec);
    check.range("-C", count, 0, MOST_MESSAGES);
    check.range("-S", size, 0, LONGEST_MESSAGE);
    return new Messages(count, size);
  }
}

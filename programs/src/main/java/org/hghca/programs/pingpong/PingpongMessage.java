package org.hghca.programs.pingpong;

import org.hghca.programs.CNumber;
import org.hghca.verbs.Mtu;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The messages of a ping-pong over connections, which may be longer than a packet. */
final class PingpongMessage {
  @Option(
      names = {"-s", "--size"},
      paramLabel = "<size>",
      converter = CNumber.class,
      description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
  private int size = 4096;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "<size>",
      converter = CNumber.class,
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 (default: ${DEFAULT-VALUE}).")
  private int mtu = 1024;

  int size() {
    return size;
  }

  /**
   * The path MTU.
   *
   * @throws ParameterException when there is none of that size
   */
  Mtu mtu(CommandSpec spec) {
    for (Mtu one : Mtu.values()) {
      if (one.bytes() == mtu) {
        return one;
      }
    }
    throw new ParameterException(
        spec.commandLine(), "-m must be 256, 512, 1024, 2048 or 4096, not " + mtu);
  }
}

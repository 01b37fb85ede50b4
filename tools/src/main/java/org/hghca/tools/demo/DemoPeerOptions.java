package org.hghca.tools.demo;

import java.util.List;
import org.hghca.programs.CompletedValues;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of both sides of a demo between two processes. */
final class DemoPeerOptions {
  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description = "Name or locator of the device (default: the first card).")
  private String device;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "<n>",
      description =
          "TCP port of the server, 0 to 65535; a server takes any free one for 0 (default:"
              + " ${DEFAULT-VALUE}, that of ibv_rc_pingpong).")
  private int port = 18515;

  /**
   * The port.
   *
   * @throws ParameterException when there is no such port
   */
  int port(CommandSpec spec) {
    if (port < 0 || port > 65535) {
      throw new ParameterException(spec.commandLine(), "--port must be from 0 to 65535");
    }
    return port;
  }

  /**
   * The name or locator of the device.
   *
   * @throws ParameterException when none is named and there is no card
   */
  String device(CommandSpec spec) {
    if (device != null) {
      return device;
    }
    List<RdmaDevice> cards = RdmaDevices.list();
    if (cards.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "No card found: name a device that reaches the other side with --ib-dev");
    }
    return cards.getFirst().name();
  }
}

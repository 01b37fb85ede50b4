package org.hghca.programs.rdmacm;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.programs.OptionCheck;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Who speaks with whom: the options that ucmatose and udaddy share. */
final class RdmacmAddressing {
  private static final int LARGEST_TYPE_OF_SERVICE = 255;

  @Option(
      names = "-s",
      paramLabel = "<server_address>",
      description = "Be the client of that server.")
  private String server;

  @Option(
      names = "-b",
      paramLabel = "<bind_address>",
      description = "Address of this end (default for a server: all of the device).")
  private String bind;

  @Option(
      names = "-f",
      paramLabel = "<address_format>",
      description = "name, ip or ipv6; gid is not supported (default: ${DEFAULT-VALUE}).")
  private String format = "name";

  @Option(
      names = "-t",
      paramLabel = "<type_of_service>",
      description = "Traffic class of a client's packets, 0 to 255.")
  private Integer typeOfService;

  Optional<InetSocketAddress> server(CommandSpec spec, int port) {
    requireValue(spec, "-f", format, "name", "ip", "ipv6");
    return Optional.ofNullable(server).map(host -> RdmacmAddress.of(spec, host, port));
  }

  /** The address of this end: a client's on any port, a server's on its own. */
  Optional<InetSocketAddress> local(CommandSpec spec, int port) {
    return server == null
        ? Optional.of(RdmacmAddress.of(spec, bind == null ? "0.0.0.0" : bind, port))
        : RdmacmAddress.local(spec, bind);
  }

  OptionalInt typeOfService(CommandSpec spec) {
    requireRange(spec, "-t", typeOfService, LARGEST_TYPE_OF_SERVICE);
    return typeOfService == null ? OptionalInt.empty() : OptionalInt.of(typeOfService);
  }

  /**
   * Checks an option that has few values.
   *
   * @throws ParameterException when it has another, which names the option
   */
  static void requireValue(CommandSpec spec, String option, String value, String... supported) {
    for (String one : supported) {
      if (one.equals(value.toLowerCase(Locale.ROOT))) {
        return;
      }
    }
    throw new ParameterException(
        spec.commandLine(),
        "%s %s is not supported: it must be %s"
            .formatted(option, value, String.join(" or ", supported)));
  }

  /**
   * Checks an option, if it was given.
   *
   * @throws ParameterException when it is below 0 or above the largest value
   */
  static void requireRange(CommandSpec spec, String option, Integer value, int largest) {
    if (value != null) {
      new OptionCheck(spec).range(option, value, 0, largest);
    }
  }
}

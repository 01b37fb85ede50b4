package org.hghca.programs.rdmacm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import org.hghca.programs.OptionCheck;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Addresses and ports of the programs of librdmacm. */
final class RdmacmAddress {
  private static final int LAST_PORT = 65_535;

  private RdmacmAddress() {}

  /**
   * A host and a port.
   *
   * @throws ParameterException when the host has no address, or there is no such port
   */
  static InetSocketAddress of(CommandSpec spec, String host, int port) {
    new OptionCheck(spec).range("-p", port, 0, LAST_PORT);
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new ParameterException(
          spec.commandLine(), "'%s' is no address, and no host has that name".formatted(host), e);
    }
  }

  /** The same for a host that need not be named, on any port. */
  static Optional<InetSocketAddress> local(CommandSpec spec, String host) {
    return Optional.ofNullable(host).map(name -> of(spec, name, 0));
  }
}

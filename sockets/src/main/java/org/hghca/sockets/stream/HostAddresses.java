package org.hghca.sockets.stream;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/** Addresses of this host, at which a connection manager meets its peers that uses TCP. */
final class HostAddresses {
  private HostAddresses() {}

  /** Those of a device that the host has, too; if it has none of them, all of the host. */
  static List<InetAddress> of(List<InetAddress> device) {
    try {
      List<InetAddress> all =
          NetworkInterface.networkInterfaces()
              .flatMap(NetworkInterface::inetAddresses)
              .filter(address -> !address.isLinkLocalAddress())
              .toList();
      List<InetAddress> common = device.stream().filter(HostAddresses::isHosts).toList();
      return common.isEmpty() ? all : common;
    } catch (SocketException e) {
      throw new UncheckedIOException("the host's addresses are not known", e);
    }
  }

  /** All of 127.0.0.0/8 is the host's, though its interface has one of them. */
  private static boolean isHosts(InetAddress address) {
    try {
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }
}

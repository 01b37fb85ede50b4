package org.hghca.wire.link;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.hghca.wire.IpAddress;
import org.hghca.wire.link.LinkException.Reason;

/**
 * An IP address of this machine, in the form of {@link IpAddress}.
 *
 * @param text as it was given
 * @param scope number of the interface of a link-local IPv6 address, else 0
 * @param device number of its interface, 0 where it is not known
 * @param mtu longest IP packet of its interface in bytes
 */
record LocalAddress(String text, long high, long low, int scope, int device, int mtu) {
  /**
   * Reads an address, and looks for its interface.
   *
   * @throws LinkException INVALID when it is no address
   */
  static LocalAddress parse(String text) {
    InetAddress address;
    try {
      address = InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      throw new LinkException(
          Reason.INVALID,
          "'%s' is no IP address: give one of this machine's, such as 192.0.2.1".formatted(text));
    }
    if (address.isAnyLocalAddress()) {
      throw new LinkException(
          Reason.INVALID,
          "'%s' stands for all addresses: give one of this machine's, such as 192.0.2.1"
              .formatted(text));
    }
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    Optional<NetworkInterface> device = interfaceOf(address);
    int mtu = device.map(LocalAddress::mtu).orElse(LinkOptions.ETHERNET_MTU);
    int index = device.map(NetworkInterface::getIndex).orElse(0);
    if (address instanceof Inet4Address) {
      return new LocalAddress(text, 0, IpAddress.lowOfIpv4(bytes.getInt()), 0, index, mtu);
    }
    int scope = address instanceof Inet6Address v6 ? v6.getScopeId() : 0;
    return new LocalAddress(text, bytes.getLong(), bytes.getLong(), scope, index, mtu);
  }

  boolean isIpv4() {
    return IpAddress.isIpv4(high, low);
  }

  private static Optional<NetworkInterface> interfaceOf(InetAddress address) {
    try {
      // All of 127.0.0.0/8 are addresses of the loopback interface, though it names only one.
      return address.isLoopbackAddress()
          ? NetworkInterface.networkInterfaces().filter(LocalAddress::isLoopback).findFirst()
          : Optional.ofNullable(NetworkInterface.getByInetAddress(address));
    } catch (SocketException e) {
      return Optional.empty();
    }
  }

  private static boolean isLoopback(NetworkInterface candidate) {
    try {
      return candidate.isLoopback();
    } catch (SocketException e) {
      return false;
    }
  }

  private static int mtu(NetworkInterface of) {
    try {
      return of.getMTU();
    } catch (SocketException e) {
      return LinkOptions.ETHERNET_MTU;
    }
  }
}

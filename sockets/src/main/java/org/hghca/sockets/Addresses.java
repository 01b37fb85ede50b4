package org.hghca.sockets;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/** Addresses as channels of the JDK take them. */
final class Addresses {
  private Addresses() {}

  /** An address that is resolved. */
  static InetSocketAddress check(SocketAddress address) {
    Objects.requireNonNull(address);
    if (!(address instanceof InetSocketAddress internet)) {
      throw new UnsupportedAddressTypeException();
    }
    if (internet.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
    return internet;
  }

  /** Where to bind: null is any port of the wildcard address. */
  static InetSocketAddress checkLocal(SocketAddress address) {
    return address == null ? new InetSocketAddress(0) : check(address);
  }
}

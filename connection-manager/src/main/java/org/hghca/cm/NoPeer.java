package org.hghca.cm;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Addresses that no peer can have: nobody answers a request to them. */
final class NoPeer {
  private static final InetAddress EVERYONE = InetAddress.ofLiteral("255.255.255.255");

  private NoPeer() {}

  /**
   * Refuses the addresses of broadcasts, and for connections those of multicast groups.
   *
   * @throws VerbsException ENETUNREACH, as TCP has it
   */
  static void refuse(InetAddress to, PortSpace space) {
    if (to.isMulticastAddress() && space == PortSpace.TCP) {
      throw refusal(to, "the address of a multicast group: only port space UDP reaches groups");
    }
    if (isBroadcast(to)) {
      throw refusal(to, "a broadcast address");
    }
  }

  private static VerbsException refusal(InetAddress to, String what) {
    return new VerbsException(
        Errno.ENETUNREACH, "no peer is at %s, %s".formatted(to.getHostAddress(), what));
  }

  private static boolean isBroadcast(InetAddress to) {
    return to.equals(EVERYONE) || mayEndANetwork(to) && isOfAnInterface(to);
  }

  /** Whether the address ends with two ones: other broadcast addresses there are not. */
  private static boolean mayEndANetwork(InetAddress to) {
    byte[] bytes = to.getAddress();
    return to instanceof Inet4Address && (bytes[bytes.length - 1] & 3) == 3;
  }

  private static boolean isOfAnInterface(InetAddress to) {
    try {
      for (NetworkInterface one : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        for (InterfaceAddress address : one.getInterfaceAddresses()) {
          if (to.equals(address.getBroadcast())) {
            return true;
          }
        }
      }
    } catch (SocketException _) {
      // the machine has no interfaces
    }
    return false;
  }
}

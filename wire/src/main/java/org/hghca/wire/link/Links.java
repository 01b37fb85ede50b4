package org.hghca.wire.link;

import org.hghca.linux.Linux;
import org.hghca.wire.link.LinkException.Reason;

/** Opens links by their specification. */
public final class Links {
  private static final String UDP = "udp:";

  private Links() {}

  /**
   * Opens a link; {@link LinkPoller#add} begins to receive.
   *
   * @param specification {@code udp:ADDR} with an IP address of this machine
   * @param sourcePorts UDP source ports to send from, 0 to 1024; 0 sends everything from port 4791
   * @throws LinkException with what it lacks, and the fix
   */
  public static Link open(String specification, int sourcePorts) {
    if (specification.startsWith(UDP)) {
      LocalAddress address = LocalAddress.parse(specification.substring(UDP.length()));
      return new UdpLink(Linux.system(), address, sourcePorts);
    }
    throw new LinkException(
        Reason.INVALID,
        "'%s' is no link: give udp:ADDR with an IP address of this machine, such as udp:192.0.2.1"
            .formatted(specification));
  }
}

package org.hghca.wire.link;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.wire.frame.Encapsulation;
import org.hghca.wire.link.LinkException.Reason;

/** Opens links by their specification. */
public final class Links {
  private static final String UDP = "udp:";
  private static final String STREAM = "stream:";
  private static final String PACKET = "packet:";
  private static final String TAP = "tap:";
  private static final String SHARED_MEMORY = "shm:";

  private Links() {}

  /**
   * Opens a link; {@link LinkPoller#add} begins to receive.
   *
   * @param specification {@code udp:ADDR} with an IP address of this machine, {@code udp:ADDR,ADDR}
   *     with several; {@code stream:/path} or {@code stream:host:port} where a peer listens, {@code
   *     stream:listen:/path} or {@code stream:listen:host:port} where it comes to; {@code
   *     packet:IFACE} for a packet socket at an interface, {@code tap:NAME} for a TAP device;
   *     {@code shm:NAME} for shared memory with other processes of the user
   * @throws LinkException with what it lacks, and the fix
   */
  public static Link open(String specification, LinkOptions options) {
    if (specification.startsWith(UDP)) {
      return udp(specification.substring(UDP.length()), options);
    }
    if (specification.startsWith(STREAM)) {
      StreamAddress address = StreamAddress.parse(specification.substring(STREAM.length()));
      return new StreamLink(Linux.system(), address, options);
    }
    if (specification.startsWith(PACKET)) {
      String name = specification.substring(PACKET.length());
      return new FrameLink(new PacketSocket(Linux.system(), name, options), options);
    }
    if (specification.startsWith(TAP)) {
      String name = specification.substring(TAP.length());
      return new FrameLink(new TapDevice(Linux.system(), name), options);
    }
    if (specification.startsWith(SHARED_MEMORY)) {
      String name = specification.substring(SHARED_MEMORY.length());
      return new SharedMemoryLink(Linux.system(), name, options);
    }
    throw new LinkException(
        Reason.INVALID,
        ("'%s' is no link: give shm:NAME to share memory with processes of this machine, udp:ADDR"
                + " with an IP address of this machine, such as udp:192.0.2.1, packet:IFACE or"
                + " tap:NAME with an interface, or stream:/path or stream:host:port")
            .formatted(specification));
  }

  private static Link udp(String addresses, LinkOptions options) {
    if (options.encapsulation() != Encapsulation.ROCE_V2) {
      throw new LinkException(
          Reason.INVALID,
          "udp:%s: the RTL's packets need Ethernet frames: use packet:IFACE, tap:NAME or stream:"
              .formatted(addresses));
    }
    List<LocalAddress> parsed =
        Arrays.stream(addresses.split(",", -1)).map(LocalAddress::parse).toList();
    List<UdpLink> links = new ArrayList<>();
    try {
      for (LocalAddress address : parsed) {
        links.add(new UdpLink(Linux.system(), address, options));
      }
    } catch (RuntimeException | Error e) {
      links.forEach(UdpLink::close);
      throw e;
    }
    return links.size() == 1 ? links.getFirst() : new JoinedLink(links);
  }
}

package org.hghca.provider.address;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.hghca.verbs.Gid;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;

/**
 * The devices of this process that are plugged into one cable or hub, by their IP addresses: what
 * ARP finds in a network. A device is in the table while it is up. Thread-safe.
 */
public final class SegmentNeighbors implements Neighbors.Table {
  private record Neighbor(String segment, Gid gid) {}

  private static final Map<Neighbor, Long> MACS = new ConcurrentHashMap<>();

  /** Names the cable or hub; empty for a port that is plugged into neither. */
  private final Optional<String> segment;

  /** The neighbors of a port. */
  public SegmentNeighbors(Locator locator) {
    // A name belongs to the simulation that it is used in.
    segment =
        Stream.of("cable", "hub")
            .flatMap(kind -> locator.parameter(kind).map(name -> kind + "=" + name).stream())
            .findFirst()
            .map(plug -> plug + "&sim=" + locator.parameter("sim").orElse(""));
  }

  /** A port at the segment is up; of two with one address, the later one has it. */
  public void join(LinkAddress address) {
    neighbors(address).forEach(neighbor -> MACS.put(neighbor, address.mac()));
  }

  /** A port at the segment is no longer up. */
  public void leave(LinkAddress address) {
    neighbors(address).forEach(neighbor -> MACS.remove(neighbor, address.mac()));
  }

  private Stream<Neighbor> neighbors(LinkAddress address) {
    return segment.stream()
        .flatMap(at -> address.addresses().stream().map(ip -> new Neighbor(at, Gid.of(ip))));
  }

  @Override
  public OptionalLong mac(Gid gid) {
    Long mac = segment.map(at -> MACS.get(new Neighbor(at, gid))).orElse(null);
    return mac == null ? OptionalLong.empty() : OptionalLong.of(mac);
  }
}

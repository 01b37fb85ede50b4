package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.model.transport.IpPath;
import org.hghca.virtio.abi.roce.AddressVector;
import org.hghca.virtio.abi.roce.GlobalRoute;

/**
 * The way to a destination, as an address handle or a connected queue pair has it.
 *
 * @param gidHigh the upper half of its GID
 * @param gidLow the lower half
 * @param flowLabel 20 bits
 * @param sourceGid index in the table
 * @param hopLimit 8 bits
 * @param trafficClass 8 bits
 * @param mac its Ethernet address
 */
record RoceAddress(
    long gidHigh,
    long gidLow,
    int flowLabel,
    int sourceGid,
    int hopLimit,
    int trafficClass,
    long mac) {
  /** Nowhere: that of a queue pair before it is connected. */
  static final RoceAddress NONE = new RoceAddress(0, 0, 0, 0, 0, 0, 0);

  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int FLOW_LABEL_MASK = 0xf_ffff;

  /** Reads an address vector. */
  static RoceAddress read(MemorySegment from, long at) {
    long route = at + AddressVector.ROUTE;
    MemorySegment gid = GlobalRoute.DGID.in(from, route);
    MemorySegment mac = AddressVector.DMAC.in(from, at);
    long address = 0;
    for (int i = 0; i < AddressVector.DMAC.length(); i++) {
      address = address << 8 | mac.get(ValueLayout.JAVA_BYTE, i) & 0xff;
    }
    return new RoceAddress(
        gid.get(BIG, 0),
        gid.get(BIG, 8),
        GlobalRoute.FLOW_LABEL.get(from, route) & FLOW_LABEL_MASK,
        GlobalRoute.SGID_INDEX.get(from, route),
        GlobalRoute.HOP_LIMIT.get(from, route),
        GlobalRoute.TRAFFIC_CLASS.get(from, route),
        address);
  }

  /** Writes the network headers of packets from one queue pair to another into a path. */
  void path(RoceGids gids, int localQpn, int remoteQpn, IpPath into) {
    boolean known = gids.has(sourceGid);
    into.source(known ? gids.high(sourceGid) : 0, known ? gids.low(sourceGid) : 0);
    into.destination(gidHigh, gidLow);
    into.service(trafficClass, hopLimit);
    into.flow(flowLabel, localQpn, remoteQpn);
  }

  /** Writes it as an address vector, over zeros. */
  void write(MemorySegment to, long at) {
    long route = at + AddressVector.ROUTE;
    MemorySegment gid = GlobalRoute.DGID.in(to, route);
    gid.set(BIG, 0, gidHigh);
    gid.set(BIG, 8, gidLow);
    GlobalRoute.FLOW_LABEL.set(to, route, flowLabel);
    GlobalRoute.SGID_INDEX.set(to, route, sourceGid);
    GlobalRoute.HOP_LIMIT.set(to, route, hopLimit);
    GlobalRoute.TRAFFIC_CLASS.set(to, route, trafficClass);
    MemorySegment bytes = AddressVector.DMAC.in(to, at);
    for (int i = 0; i < AddressVector.DMAC.length(); i++) {
      bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (mac >> 40 - 8 * i));
    }
  }
}

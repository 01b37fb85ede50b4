package org.hghca.provider.address;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;

/**
 * The GIDs and the P_Key of the single Ethernet port of a device without such tables: the driver
 * keeps them. Thread-safe.
 */
public class AddressTable {
  /** The hop limit of datagrams, unless a program gives another one. */
  public static final int HOP_LIMIT = 64;

  private static final int NUMBER = 1;
  private static final long IPV4_GROUP_MAC = 0x0100_5e00_0000L;
  private static final long IPV6_GROUP_MAC = 0x3333_0000_0000L;
  private static final int DEFAULT_PKEY = 0xffff;

  private final String device;
  private final LinkAddress address;
  private final Neighbors neighbors;
  private final boolean findsNeighbors;
  private final boolean hasIpv6;
  private final List<Gid> gids;

  /**
   * The table of a device.
   *
   * @param device its name in messages
   * @param gids its GIDs in the order of the table
   * @param findsNeighbors whether it finds Ethernet addresses by itself
   * @param hasIpv6 whether it sends from IPv6 addresses; without, a link-local GID stands for a MAC
   *     alone
   */
  public AddressTable(
      String device,
      LinkAddress address,
      List<Gid> gids,
      Neighbors neighbors,
      boolean findsNeighbors,
      boolean hasIpv6) {
    this.device = device;
    this.address = address;
    this.gids = List.copyOf(gids);
    this.neighbors = neighbors;
    this.findsNeighbors = findsNeighbors;
    this.hasIpv6 = hasIpv6;
  }

  /** An address vector, with {@link #HOP_LIMIT} in place of 0 and 1, by which no router passes. */
  public static AddressVector withHopLimit(AddressVector vector) {
    return vector.hopLimit() > 1
        ? vector
        : new AddressVector(
            vector.destination(),
            vector.sourceGidIndex(),
            vector.flowLabel(),
            HOP_LIMIT,
            vector.trafficClass(),
            vector.serviceLevel(),
            vector.port());
  }

  /** The name of the device in messages. */
  public final String device() {
    return device;
  }

  /** Number of GIDs. */
  public final int gidCount() {
    return gids.size();
  }

  /**
   * Checks the number of a port.
   *
   * @throws VerbsException EINVAL when it is not the device's port
   */
  public final void check(int number) {
    if (number != NUMBER) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no port %d, only port %d".formatted(device, number, NUMBER));
    }
  }

  /**
   * Checks an address vector.
   *
   * @return the local GID that it starts from
   * @throws VerbsException EINVAL when it starts from another port, from a GID that we have not,
   *     has no global route, or starts from an address of another family than it leads to;
   *     EOPNOTSUPP when it leads to an IPv6 address, which this device does not reach
   */
  public final Gid check(AddressVector vector) {
    check(vector.port());
    if (!vector.isGlobal()) {
      throw new VerbsException(
          Errno.EINVAL,
          "an address vector over Ethernet needs a global route: set the destination's GID");
    }
    int index = vector.sourceGidIndex();
    if (index >= gids.size()) {
      throw new VerbsException(
          Errno.EINVAL,
          "source GID index %d of %s is empty: there are %d".formatted(index, device, gids.size()));
    }
    checkReachable(vector.destination());
    checkFamily(index, vector.destination());
    return gids.get(index);
  }

  /** Whether what a checked vector leads to is an IPv6 address, and not only that of a MAC. */
  public final boolean isIpv6(AddressVector vector) {
    return hasIpv6 && !isIpv4(vector.destination());
  }

  private void checkReachable(Gid destination) {
    if (hasIpv6 || destination.ipv4().isPresent()) {
      return;
    }
    if (findsNeighbors) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s reaches IPv4 addresses only: take the peer's GID of type RoCE v2, not %s"
              .formatted(device, destination));
    }
    if (!destination.isLinkLocal()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s carries no IPv6 addresses: take the peer's GID of its IPv4 address, or its link-local"
                  .formatted(device)
              + " one, not %s".formatted(destination));
    }
  }

  private void checkFamily(int index, Gid destination) {
    Gid source = gids.get(index);
    if (isIpv4(source) == isIpv4(destination)) {
      return;
    }
    int other = 0;
    while (other < gids.size() && isIpv4(gids.get(other)) != isIpv4(destination)) {
      other++;
    }
    throw new VerbsException(
        Errno.EINVAL,
        "source GID index %d of %s is %s, and the destination %s is %s: %s"
            .formatted(
                index,
                device,
                family(source),
                destination,
                family(destination),
                other < gids.size()
                    ? "take a source of that family, such as index %d".formatted(other)
                    : "take a destination of the source's family, or add an address to ip= of the"
                        + " locator"));
  }

  private static boolean isIpv4(Gid gid) {
    return gid.ipv4().isPresent();
  }

  private static String family(Gid gid) {
    return isIpv4(gid) ? "IPv4" : gid.isLinkLocal() ? "link-local" : "IPv6";
  }

  public final LinkAddress address() {
    return address;
  }

  /** The MAC of a GID, our own and groups among them; 0 when the device is to find it. */
  public final long macOf(Gid gid) {
    if (gid.isMulticast()) {
      return groupMac(gid);
    }
    if (gids.contains(gid)) {
      return address.mac();
    }
    return findsNeighbors ? neighbors.told(gid).orElse(0) : neighbors.resolve(gid);
  }

  /** The Ethernet address of a multicast group (RFC 1112, 6.4; RFC 2464, 7). */
  private static long groupMac(Gid group) {
    return group
        .ipv4()
        .map(address -> IPV4_GROUP_MAC | address & 0x7f_ffffL)
        .orElse(IPV6_GROUP_MAC | group.interfaceId() & 0xffff_ffffL);
  }

  public final Gid gid(int number, int index) {
    check(number);
    if (index < 0 || index >= gids.size()) {
      throw new VerbsException(
          Errno.ENODATA,
          "GID index %d of %s is empty: there are %d".formatted(index, device, gids.size()));
    }
    return gids.get(index);
  }

  public final List<GidEntry> gidTable() {
    List<GidEntry> entries = new ArrayList<>();
    for (Gid gid : gids) {
      GidType type = hasIpv6 || isIpv4(gid) ? GidType.ROCE_V2 : GidType.ROCE_V1;
      entries.add(new GidEntry(gid, NUMBER, entries.size(), type));
    }
    return entries;
  }

  /**
   * The index of one of our own GIDs.
   *
   * @throws VerbsException EINVAL when it is none
   */
  public final int gidIndex(Gid gid) {
    int index = gids.indexOf(gid);
    if (index < 0) {
      throw new VerbsException(Errno.EINVAL, "GID %s is not one of %s".formatted(gid, device));
    }
    return index;
  }

  /**
   * The index of the own GID to reach another one from: of its family, the one with the longest
   * common prefix, which is that of its subnet where there is one; the first of several.
   *
   * @throws VerbsException EINVAL when none is of its family
   */
  public final int indexToward(Gid peer) {
    int best = -1;
    int most = -1;
    for (int i = 0; i < gids.size(); i++) {
      Gid own = gids.get(i);
      int common = commonBits(own, peer);
      if (own.ipv4().isPresent() == peer.ipv4().isPresent() && common > most) {
        best = i;
        most = common;
      }
    }
    if (best < 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no GID of the family of %s".formatted(device, peer));
    }
    return best;
  }

  private static int commonBits(Gid one, Gid other) {
    long differs = one.subnetPrefix() ^ other.subnetPrefix();
    return differs != 0
        ? Long.numberOfLeadingZeros(differs)
        : Long.SIZE + Long.numberOfLeadingZeros(one.interfaceId() ^ other.interfaceId());
  }

  /**
   * The way back to the sender of a datagram.
   *
   * @param grh the header that came with it
   * @throws VerbsException EINVAL when the completion has no header, or the datagram was not for us
   */
  public final AddressVector wayBack(
      Completions completions, int index, MemorySegment grh, int portNumber) {
    check(portNumber);
    if ((completions.flags(index) & Completions.GRH) == 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "the completion of wr_id %d brings no global route header: only receives of UD queue"
                  .formatted(completions.wrId(index))
              + " pairs do");
    }
    GlobalRouteHeader header = GlobalRouteHeader.of(grh);
    Gid peer = header.sourceGid();
    Gid received = header.destinationGid();
    int own = received.isMulticast() ? indexToward(peer) : gidIndex(received);
    return AddressVector.to(peer, own, portNumber);
  }

  public final int pkey(int number, int index) {
    check(number);
    checkPkeyIndex(index);
    return DEFAULT_PKEY;
  }

  /**
   * Checks an index of the table of P_Keys.
   *
   * @throws VerbsException EINVAL when it holds none
   */
  public final void checkPkeyIndex(int index) {
    if (index != 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no P_Key index %d, only 0".formatted(device, index));
    }
  }

  public final int pkeyIndex(int number, int pkey) {
    check(number);
    if (pkey != DEFAULT_PKEY) {
      throw new VerbsException(
          Errno.EINVAL, "%s does not hold P_Key 0x%04x".formatted(device, pkey));
    }
    return 0;
  }
}

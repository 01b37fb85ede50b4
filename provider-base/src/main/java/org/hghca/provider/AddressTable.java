package org.hghca.provider;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;

/**
 * The GIDs and the P_Key of the single Ethernet port of a device without such tables: the driver
 * keeps them. Thread-safe.
 */
public class AddressTable {
  private static final int NUMBER = 1;
  private static final long IPV4_GROUP_MAC = 0x0100_5e00_0000L;
  private static final long IPV6_GROUP_MAC = 0x3333_0000_0000L;
  private static final int DEFAULT_PKEY = 0xffff;

  private final String device;
  private final LinkAddress address;
  private final Neighbors neighbors;
  private final boolean findsNeighbors;
  private final List<Gid> gids;

  /**
   * The link-local GID of a MAC and that of an IPv4 address; only the second where the device finds
   * Ethernet addresses by itself, which it does for IPv4 addresses.
   *
   * @param device its name in messages
   * @param findsNeighbors whether it finds Ethernet addresses by itself
   */
  public AddressTable(
      String device, LinkAddress address, Neighbors neighbors, boolean findsNeighbors) {
    this.device = device;
    this.address = address;
    this.neighbors = neighbors;
    this.findsNeighbors = findsNeighbors;
    Gid ipv4 = Gid.ofIpv4(address.ip());
    this.gids = findsNeighbors ? List.of(ipv4) : List.of(Gid.ofMac(address.mac()), ipv4);
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
   *     has no global route, or leads to no IPv4 address where the device reaches nothing else
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
    if (findsNeighbors && vector.destination().ipv4().isEmpty()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s reaches IPv4 addresses only: take the peer's GID of type RoCE v2, not %s"
              .formatted(device, vector.destination()));
    }
    return gids.get(index);
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
      GidType type = gid.ipv4().isPresent() ? GidType.ROCE_V2 : GidType.ROCE_V1;
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

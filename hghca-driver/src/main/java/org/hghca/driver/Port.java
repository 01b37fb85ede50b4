package org.hghca.driver;

import java.util.List;
import java.util.Optional;
import org.hghca.abi.PortInfo;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;

/**
 * The one port of a device, as a context names it. The card takes neither addresses nor keys: they
 * are the driver's. Thread-safe; only {@link #attributes} gives the card a command.
 */
final class Port {
  private static final int NUMBER = 1;
  private static final int DEFAULT_PKEY = 0xffff;

  private final String device;
  private final HghcaDevice hghca;
  private final LinkAddress address;
  private final List<Gid> gids;

  /**
   * The port of a device.
   *
   * @param device what it is called in messages
   */
  Port(String device, HghcaDevice hghca) {
    this.device = device;
    this.hghca = hghca;
    this.address = hghca.address();
    this.gids = List.of(Gid.ofMac(address.mac()), Gid.ofIpv4(address.ip()));
  }

  /**
   * Checks the number of a port.
   *
   * @throws VerbsException EINVAL when it is another one's
   */
  void check(int number) {
    if (number != NUMBER) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no port %d, only port %d".formatted(device, number, NUMBER));
    }
  }

  /**
   * Checks that a vector leads from here to somewhere.
   *
   * @return the GID of our own that it starts from
   * @throws VerbsException EINVAL when it starts from another port, from a GID that we have not, or
   *     has no global route
   */
  Gid check(AddressVector vector) {
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
    return gids.get(index);
  }

  LinkAddress address() {
    return address;
  }

  /** The MAC of a GID, our own among them. */
  long macOf(Gid gid) {
    return gids.contains(gid) ? address.mac() : hghca.neighbors().resolve(gid);
  }

  /** The largest one, which is also the active one. */
  Mtu mtu() {
    return Mtu.of(hghca.limits().device().maxMtu());
  }

  PortAttributes attributes(int number) {
    check(number);
    Optional<PortInfo> info = info();
    PortState state = info.map(Port::state).orElse(PortState.ACTIVE);
    return new PortAttributes(
        state, info.isEmpty(), mtu(), mtu(), gids.size(), 1, 1L << 31, 0, 0, 0, address.mac());
  }

  private Optional<PortInfo> info() {
    try {
      return hghca.portInfo();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query the port of " + device, e);
    }
  }

  /** A state that does not exist is libibverbs' "invalid state". */
  private static PortState state(PortInfo info) {
    PortState[] known = PortState.values();
    return info.portState() < known.length ? known[info.portState()] : PortState.NOP;
  }

  Gid gid(int number, int index) {
    check(number);
    if (index < 0 || index >= gids.size()) {
      throw new VerbsException(
          Errno.ENODATA,
          "GID index %d of %s is empty: there are %d".formatted(index, device, gids.size()));
    }
    return gids.get(index);
  }

  List<GidEntry> gidTable() {
    return List.of(
        new GidEntry(gids.get(0), NUMBER, 0, GidType.ROCE_V1),
        new GidEntry(gids.get(1), NUMBER, 1, GidType.ROCE_V2));
  }

  /**
   * The index of one of our own GIDs.
   *
   * @throws VerbsException EINVAL when it is none
   */
  int gidIndex(Gid gid) {
    int index = gids.indexOf(gid);
    if (index < 0) {
      throw new VerbsException(Errno.EINVAL, "GID %s is not one of %s".formatted(gid, device));
    }
    return index;
  }

  int pkey(int number, int index) {
    check(number);
    checkPkeyIndex(index);
    return DEFAULT_PKEY;
  }

  /**
   * Checks an index of the table of P_Keys.
   *
   * @throws VerbsException EINVAL when it holds none
   */
  void checkPkeyIndex(int index) {
    if (index != 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no P_Key index %d, only 0".formatted(device, index));
    }
  }

  int pkeyIndex(int number, int pkey) {
    check(number);
    if (pkey != DEFAULT_PKEY) {
      throw new VerbsException(
          Errno.EINVAL, "%s does not hold P_Key 0x%04x".formatted(device, pkey));
    }
    return 0;
  }
}

package org.hghca.driver.state;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.PortInfo;
import org.hghca.driver.card.Limits;
import org.hghca.provider.Failures;
import org.hghca.provider.address.AddressTable;
import org.hghca.provider.address.Neighbors;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.vfio.LinkAddress;

/**
 * The single port of a device, for a context. Thread-safe; only {@link #attributes} issues a
 * command to the card.
 */
public final class Port extends AddressTable {
  private final Mtu mtu;
  private final Supplier<Optional<PortInfo>> card;

  /**
   * The port of a device.
   *
   * @param device its name in messages
   * @param gids its GIDs in the order of the table
   * @param card queries the card's report of the port
   */
  public Port(
      String device,
      LinkAddress address,
      List<Gid> gids,
      Neighbors neighbors,
      Limits limits,
      Supplier<Optional<PortInfo>> card) {
    super(
        device,
        address,
        gids,
        neighbors,
        limits.has(DeviceExtension.NEIGHBOR_DISCOVERY),
        limits.has(DeviceExtension.IPV6_ADDRESSES));
    this.mtu = Mtu.of(limits.device().maxMtu());
    this.card = card;
  }

  /** The largest one, which is also the active one. */
  public Mtu mtu() {
    return mtu;
  }

  public PortAttributes attributes(int number) {
    check(number);
    Optional<PortInfo> info = info();
    PortState state = info.map(Port::state).orElse(PortState.ACTIVE);
    return new PortAttributes(
        state, info.isEmpty(), mtu, mtu, gidCount(), 1, 1L << 31, 0, 0, 0, address().mac());
  }

  private Optional<PortInfo> info() {
    try {
      return card.get();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query the port of " + device(), e);
    }
  }

  /** A state that does not exist is libibverbs' "invalid state". */
  private static PortState state(PortInfo info) {
    PortState[] known = PortState.values();
    return info.portState() < known.length ? known[info.portState()] : PortState.NOP;
  }
}

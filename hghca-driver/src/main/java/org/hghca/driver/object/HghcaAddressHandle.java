package org.hghca.driver.object;

import org.hghca.abi.DeviceExtension;
import org.hghca.abi.UdUnit;
import org.hghca.driver.ring.Destination;
import org.hghca.driver.state.Port;
import org.hghca.provider.address.AddressTable;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;

/**
 * A destination of datagrams, resolved once to the content of a UD unit. The card has no state for
 * it.
 *
 * <p>With the GID of an IPv4 address, datagrams carry both IPv4 addresses; with other GIDs both
 * IPv6 addresses on a device that has them, else only MAC addresses. A card's unit has no fields
 * for the rest of an address vector: flow label, traffic class and service level are 0, and the
 * card sets the hop limit. A software HCA's has all but the service level.
 */
final class HghcaAddressHandle extends Destination {
  private final ProtectionDomain pd;
  private final AddressVector vector;

  /**
   * Resolves a destination.
   *
   * @throws VerbsException EINVAL for an invalid vector; EOPNOTSUPP for fields that datagrams do
   *     not carry, and for multicast groups of a device that has none
   */
  HghcaAddressHandle(HghcaProtectionDomain pd, AddressVector vector) {
    Port port = pd.context().port();
    Gid own = port.check(vector);
    if (vector.destination().isMulticast()) {
      pd.device().groups().check(vector.destination());
    }
    boolean hasFields = pd.device().card().limits().has(DeviceExtension.FLOW_LABELS);
    if (!hasFields) {
      checkCarried("flow label", vector.flowLabel());
      checkCarried("traffic class", vector.trafficClass());
    }
    checkCarried("service level", vector.serviceLevel());
    AddressVector sent = hasFields ? AddressTable.withHopLimit(vector) : way(vector);
    boolean portOnly =
        hasFields && sent.flowLabel() == 0 && pd.context().entropy() == RoceEntropy.V1;
    int flow = portOnly ? UdUnit.PORT_BY_NUMBERS : sent.flowLabel();
    int addresses = port.isIpv6(vector) ? UdUnit.ipv6Path(vector.sourceGidIndex()) : 0;
    boolean isPlain =
        flow == 0 && sent.trafficClass() == 0 && sent.hopLimit() == AddressTable.HOP_LIMIT;
    super(
        pd,
        vector.port(),
        port.address().mac(),
        port.macOf(vector.destination()),
        own,
        vector.destination(),
        isPlain ? addresses : UdUnit.path(addresses, sent.hopLimit(), sent.trafficClass()),
        flow);
    this.pd = pd;
    this.vector = sent;
    publish();
  }

  private static AddressVector way(AddressVector vector) {
    return new AddressVector(
        vector.destination(),
        vector.sourceGidIndex(),
        0,
        AddressTable.HOP_LIMIT,
        0,
        0,
        vector.port());
  }

  private static void checkCarried(String what, int value) {
    if (value != 0) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s 0x%x: datagrams of this device carry none, leave it 0".formatted(what, value));
    }
  }

  @Override
  public String describe() {
    return "AH to %s".formatted(vector.destination());
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public AddressVector vector() {
    return vector;
  }

  @Override
  protected void release() {
    // The card holds no state for it.
  }
}

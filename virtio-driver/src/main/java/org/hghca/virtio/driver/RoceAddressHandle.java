package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.address.AddressTable;
import org.hghca.provider.object.AbstractProtectionDomain;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.abi.roce.AddressVector;
import org.hghca.virtio.abi.roce.CreateAh;
import org.hghca.virtio.abi.roce.DestroyAh;
import org.hghca.virtio.abi.roce.GlobalRoute;
import org.hghca.virtio.abi.roce.RoceCommand;

/** A destination of datagrams: an object of the device. */
final class RoceAddressHandle extends Resource implements AddressHandle {
  private final AbstractProtectionDomain pd;
  private final RoceDevice device;
  private final org.hghca.verbs.AddressVector vector;
  private final int number;

  /**
   * Creates it.
   *
   * @throws VerbsException EINVAL for an invalid vector; EOPNOTSUPP for multicast groups and
   *     service levels; ENOMEM when the device has no room
   */
  RoceAddressHandle(
      AbstractProtectionDomain pd,
      RoceDevice device,
      RocePort port,
      org.hghca.verbs.AddressVector vector) {
    super(pd);
    this.pd = pd;
    this.device = device;
    this.vector = AddressTable.withHopLimit(vector);
    try (Undo undo = new Undo();
        Arena arena = Arena.ofConfined()) {
      undo.add(this::abandon);
      MemorySegment data = arena.allocate(CreateAh.SIZE);
      CreateAh.PDN.set(data, 0, pd.number());
      put(port, this.vector, vector.flowLabel(), data, CreateAh.ADDRESS_VECTOR);
      this.number = device.commands().create(RoceCommand.CREATE_AH, data, "another address handle");
      publish();
      undo.forget();
    }
  }

  /**
   * Stores an address vector for the device.
   *
   * @param flowLabel in place of the vector's
   * @param base of the structure, in the data of a command
   * @throws VerbsException EINVAL for an invalid vector; EOPNOTSUPP for multicast groups and
   *     service levels
   */
  static void put(
      RocePort port,
      org.hghca.verbs.AddressVector vector,
      int flowLabel,
      MemorySegment data,
      long base) {
    port.check(vector);
    if (vector.destination().isMulticast()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s is a multicast group: the device has none".formatted(vector.destination()));
    }
    if (vector.serviceLevel() != 0) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "service level %d: the device has none, leave it 0".formatted(vector.serviceLevel()));
    }
    long route = base + AddressVector.ROUTE;
    Wire.put(vector.destination(), GlobalRoute.DGID.in(data, route));
    GlobalRoute.FLOW_LABEL.set(data, route, flowLabel);
    GlobalRoute.SGID_INDEX.set(data, route, vector.sourceGidIndex());
    GlobalRoute.HOP_LIMIT.set(data, route, vector.hopLimit());
    GlobalRoute.TRAFFIC_CLASS.set(data, route, vector.trafficClass());
    Wire.putMac(port.macOf(vector.destination()), AddressVector.DMAC.in(data, base));
  }

  /** The device's number. */
  int number() {
    return number;
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
  public org.hghca.verbs.AddressVector vector() {
    return vector;
  }

  @Override
  protected void release() {
    device.deferredFree().retire(describe(), this::destroy, () -> {}, () -> {});
  }

  private void destroy() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(DestroyAh.SIZE);
      DestroyAh.PDN.set(data, 0, pd.number());
      DestroyAh.AH.set(data, 0, number);
      device.commands().give(RoceCommand.DESTROY_AH, data, Errno.EBUSY, "the end of " + describe());
    }
  }
}

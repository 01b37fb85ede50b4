package org.hghca.virtio;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.PciIds;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.net.NetFeature;

/**
 * What a network device says of itself.
 *
 * @param ids of the function
 * @param revision of the function
 * @param structures of registers, in the order of the capabilities
 * @param offered mask of the features that it offers
 * @param negotiated mask of those that were negotiated, 0 before
 * @param status bits of {@link org.hghca.virtio.abi.DeviceStatus}
 * @param vectors of MSI-X, 0 without
 * @param queues all of them, those beside each other with the same number of entries together
 * @param mac 48 bits, the first byte on the wire highest; empty when it says none
 * @param mtu bytes of the largest IP packet; empty when it says none
 * @param isUp whether the link is up; empty when it does not say
 */
public record NetworkDevice(
    PciIds ids,
    int revision,
    List<RegisterStructure> structures,
    long offered,
    long negotiated,
    int status,
    int vectors,
    List<Queues> queues,
    OptionalLong mac,
    OptionalInt mtu,
    Optional<Boolean> isUp) {

  /**
   * Queues beside each other.
   *
   * @param first index
   * @param last index
   * @param entries that each can have at most or, when it is set up, has
   */
  public record Queues(int first, int last, int entries) {}

  /**
   * Asks a network device.
   *
   * @throws VirtioException when its configuration is too short for what it offers, or it fails
   */
  public static NetworkDevice of(VirtioDevice device) {
    ConfigurationSpace space = device.function().configuration();
    return new NetworkDevice(
        PciIds.of(space),
        space.revisionId(),
        device.structures(),
        device.offered(),
        device.features(),
        device.status(),
        device.function().interrupts().vectors(),
        queues(device),
        mac(device),
        mtu(device),
        isUp(device));
  }

  private static List<Queues> queues(VirtioDevice device) {
    List<Queues> queues = new ArrayList<>();
    int count = device.queues();
    for (int index = 0; index < count; index++) {
      int entries = device.entries(index);
      boolean another = queues.isEmpty() || queues.getLast().entries != entries;
      int first = another ? index : queues.removeLast().first;
      queues.add(new Queues(first, index, entries));
    }
    return List.copyOf(queues);
  }

  private static boolean offers(VirtioDevice device, int feature) {
    return (device.offered() & Feature.mask(feature)) != 0;
  }

  private static OptionalLong mac(VirtioDevice device) {
    if (!offers(device, NetFeature.MAC)) {
      return OptionalLong.empty();
    }
    long mac = 0;
    for (byte part : device.configuration(configuration -> configuration.get(NetConfig.MAC))) {
      mac = mac << 8 | part & 0xff;
    }
    return OptionalLong.of(mac);
  }

  private static OptionalInt mtu(VirtioDevice device) {
    return offers(device, NetFeature.MTU)
        ? OptionalInt.of(
            device.configuration(configuration -> (int) configuration.get(NetConfig.MTU)))
        : OptionalInt.empty();
  }

  private static Optional<Boolean> isUp(VirtioDevice device) {
    return offers(device, NetFeature.STATUS)
        ? Optional.of(
            device.configuration(
                configuration ->
                    (configuration.get(NetConfig.STATUS) & NetConfig.STATUS_LINK_UP) != 0))
        : Optional.empty();
  }
}

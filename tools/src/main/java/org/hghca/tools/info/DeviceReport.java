package org.hghca.tools.info;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.driver.CardInformation;
import org.hghca.driver.HghcaContext;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.RdmaDevice;

/**
 * All that {@code hghca info} reports of a device.
 *
 * @param ports those asked for
 * @param gids of all ports
 * @param card what the driver of cards tells beyond the verbs; empty for another device
 * @param virtio what the driver of virtio devices tells; empty for another device
 * @param counters by group and name; empty when they are not wanted
 */
record DeviceReport(
    RdmaDevice device,
    DeviceAttributes attributes,
    List<Port> ports,
    List<GidEntry> gids,
    Optional<CardInformation> card,
    Optional<VirtioReport> virtio,
    Map<String, Map<String, Long>> counters) {

  /**
   * A port.
   *
   * @param number from 1
   */
  record Port(int number, PortAttributes attributes) {}

  /**
   * Asks a device.
   *
   * @param attributes as the device gave them before
   * @param port from 1; 0 is all
   * @param counters whether they are wanted
   */
  static DeviceReport of(Context context, DeviceAttributes attributes, int port, boolean counters) {
    List<Port> ports = new ArrayList<>();
    for (int number = 1; number <= attributes.physicalPorts(); number++) {
      if (port == 0 || port == number) {
        ports.add(new Port(number, context.queryPort(number)));
      }
    }
    Optional<CardInformation> card =
        context instanceof HghcaContext hghca ? Optional.of(hghca.card()) : Optional.empty();
    return new DeviceReport(
        context.device(),
        attributes,
        ports,
        context.queryGidTable(),
        card,
        VirtioReport.of(context),
        counters ? CounterReport.of(context) : Map.of());
  }

  /** The GIDs of a port, without those that are null: whose last eight bytes are zero. */
  List<GidEntry> gidsOf(Port port) {
    return gids.stream()
        .filter(entry -> entry.port() == port.number() && entry.gid().interfaceId() != 0)
        .toList();
  }
}

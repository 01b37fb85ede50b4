package org.hghca.tools.bringup.virtio;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.virtio.NetworkDevice;
import org.hghca.virtio.RegisterStructure;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetFeature;

/** A virtio network device up to the negotiation: what it says of itself. */
public final class VirtioSteps {
  static final String NEGOTIATE = "virtio.negotiate";

  private static final String STRUCTURES = "virtio.structures";
  private static final String FEATURES = "virtio.features";
  private static final String SPECIFICATION = "virtio 1.2, ";
  private static final int LEAST_MTU = 68;

  private final VirtioBoard board;

  public VirtioSteps(VirtioBoard board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                STRUCTURES,
                "structures of registers by capability, and the reset",
                SPECIFICATION + "4.1.4 (virtio structure PCI capabilities), 2.1 (device status)",
                "ids 1af4:1041, revision 1: a transitional device becomes one with"
                    + " disable-legacy=on",
                this::structures,
                Capability.DECODING)
            .giving(Capability.STRUCTURES),
        Step.of(
                FEATURES,
                "the features, by name",
                SPECIFICATION + "5.1.3 (feature bits), 6 (reserved feature bits)",
                "QEMU: disable-legacy=on for VERSION_1, iommu_platform=on for ACCESS_PLATFORM",
                this::features,
                Capability.STRUCTURES)
            .giving(Capability.FEATURES),
        Step.of(
            "virtio.config",
            "MAC, MTU and link",
            SPECIFICATION + "5.1.4 (device configuration layout)",
            "the options of the device: mac=, host_mtu=",
            this::configuration,
            Capability.STRUCTURES),
        Step.of(
            "virtio.queues",
            "the queues and their sizes",
            SPECIFICATION + "4.1.4.3 (common configuration), 2.7 (split virtqueues)",
            "queue_size after queue_select, before the queue is enabled",
            this::queues,
            Capability.STRUCTURES),
        Step.of(
                NEGOTIATE,
                "negotiation",
                SPECIFICATION + "3.1.1 (driver requirements: device initialization)",
                "a device that clears FEATURES_OK needs a feature that was not accepted",
                this::negotiate,
                Capability.FEATURES)
            .giving(Capability.NEGOTIATION));
  }

  private void structures(Observation o) {
    o.expect("common configuration, notifications, interrupt status, device configuration");
    o.expect("status 0 after the reset, then ACKNOWLEDGE and DRIVER");
    o.fact("profile", board.abilities().name());
    o.fact("profile_found", "recognized by its PCI ids");
    VirtioDevice device = board.attach();
    for (RegisterStructure each : device.structures()) {
      o.saw(
          "%s: BAR%d + %xh, %d bytes"
              .formatted(each.name(), each.bar(), each.offset(), each.length()));
    }
    int status = device.status();
    o.saw("status %s".formatted(DeviceStatus.describe(status)));
    o.check(
        status == (DeviceStatus.ACKNOWLEDGE | DeviceStatus.DRIVER),
        "the status is %s".formatted(DeviceStatus.describe(status)));
  }

  private static List<String> names(long mask) {
    List<String> names = new ArrayList<>();
    for (int bit = 0; bit < Long.SIZE; bit++) {
      if ((mask & Feature.mask(bit)) != 0) {
        names.add("%d %s".formatted(bit, NetFeature.name(bit)));
      }
    }
    return names;
  }

  private void features(Observation o) {
    o.expect("VIRTIO_F_VERSION_1 and VIRTIO_F_ACCESS_PLATFORM among them");
    long offered = board.device().offered();
    names(offered).forEach(o::saw);
    for (int bit : new int[] {Feature.VERSION_1, Feature.ACCESS_PLATFORM}) {
      o.check((offered & Feature.mask(bit)) != 0, "%s is not offered".formatted(Feature.name(bit)));
    }
  }

  private void configuration(Observation o) {
    o.expect("a MAC of one station, an MTU from %d".formatted(LEAST_MTU));
    NetworkDevice network = NetworkDevice.of(board.device());
    OptionalLong mac = network.mac();
    mac.ifPresent(address -> o.saw("MAC %012x".formatted(address)));
    network.mtu().ifPresent(mtu -> o.saw("MTU %d".formatted(mtu)));
    network.isUp().ifPresent(up -> o.saw("link %s".formatted(up ? "up" : "down")));
    if (mac.isEmpty()) {
      o.warn("the device says no MAC: the driver makes one up");
    } else {
      o.check(
          mac.getAsLong() != 0 && (mac.getAsLong() >>> 40 & 1) == 0,
          "the MAC is %012x".formatted(mac.getAsLong()));
    }
    o.check(
        network.mtu().orElse(LEAST_MTU) >= LEAST_MTU,
        "the MTU is %d".formatted(network.mtu().orElse(0)));
  }

  private void queues(Observation o) {
    o.expect("receive and transmit queue at least; sizes are powers of two");
    List<NetworkDevice.Queues> all = NetworkDevice.of(board.device()).queues();
    for (NetworkDevice.Queues each : all) {
      o.saw("%d to %d: %d entries".formatted(each.first(), each.last(), each.entries()));
      o.check(
          each.entries() == 0
              || Integer.bitCount(each.entries()) == 1
                  && each.entries() <= CommonConfig.LARGEST_QUEUE,
          "queue %d has %d entries".formatted(each.first(), each.entries()));
    }
    o.check(!all.isEmpty() && all.getLast().last() >= 1, "there are no two queues");
    o.saw("%d interrupt vectors".formatted(board.function().interrupts().vectors()));
  }

  private void negotiate(Observation o) {
    o.expect("FEATURES_OK stays set");
    names(board.negotiate(0)).forEach(o::saw);
    o.saw("status %s".formatted(DeviceStatus.describe(board.device().status())));
  }
}

package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.virtio.NetworkDevice;
import org.hghca.virtio.RegisterStructure;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.driver.RoceInformation;

/**
 * What a virtio network device says of itself, as text below the block of {@code ibv_devinfo} and
 * as JSON. It avoids the keywords that programs search for in that block.
 */
final class VirtioPrinter {
  private VirtioPrinter() {}

  /** The section of a device. */
  static void print(PrintWriter out, VirtioReport report) {
    NetworkDevice network = report.network();
    out.printf("\tvirtio:\n");
    out.printf("\t\tlocator:\t%s\n", report.locator());
    out.printf("\t\tids:\t\t%s, revision %d\n", network.ids(), network.revision());
    for (RegisterStructure structure : network.structures()) {
      out.printf(
          "\t\t%-24sBAR%d + 0x%x, %d bytes\n",
          structure.name() + ":", structure.bar(), structure.offset(), structure.length());
    }
    out.printf("\t\tvectors:\t%s\n", network.vectors() == 0 ? "none" : network.vectors());
    out.printf("\t\tdevice status:\t%s\n", DeviceStatus.describe(network.status()));
    out.printf("\t\tfeature bits:\n");
    for (int bit : bits(network.offered())) {
      out.printf("\t\t\t%2d %-32s%s\n", bit, report.feature(bit), extent(network, bit));
    }
    out.printf("\t\tqueues:\n");
    for (NetworkDevice.Queues queues : network.queues()) {
      out.printf(
          "\t\t\t%s: %s\n",
          queues.first() == queues.last()
              ? Integer.toString(queues.first())
              : queues.first() + " to " + queues.last(),
          queues.entries() == 0 ? "not available" : queues.entries() + " entries");
    }
    network.mac().ifPresent(mac -> out.printf("\t\tMAC:\t\t%012x\n", mac));
    network.mtu().ifPresent(mtu -> out.printf("\t\tIP MTU:\t\t%d\n", mtu));
    out.printf("\t\tlink:\t\t%s\n", link(network));
    report.roce().ifPresentOrElse(roce -> roce(out, roce), () -> without(out, report));
    out.printf("\n");
  }

  private static void without(PrintWriter out, VirtioReport report) {
    out.printf("\t\tverbs:\t\tnone: %s\n", report.refusal());
  }

  private static void roce(PrintWriter out, RoceInformation roce) {
    QueuePlan queues = roce.queues();
    out.printf("\t\tRoCE:\t\t%s, feature bit %d\n", roce.dialect(), roce.feature());
    out.printf("\t\t\tcontrol queue: %d\n", queues.control());
    out.printf("\t\t\t%d completion queues: %d on\n", queues.cqs(), queues.completion(0));
    out.printf("\t\t\t%d queue pairs, two queues each: %d on\n", queues.qps(), queues.send(0));
    out.printf(
        "\t\t\t%d GIDs, messages of up to 0x%x bytes, %d commands given\n",
        roce.gids(), roce.maxMessage(), roce.commands());
  }

  private static List<Integer> bits(long mask) {
    List<Integer> bits = new ArrayList<>();
    for (int bit = 0; bit < Long.SIZE; bit++) {
      if ((mask & Feature.mask(bit)) != 0) {
        bits.add(bit);
      }
    }
    return bits;
  }

  private static String extent(NetworkDevice network, int bit) {
    return (network.negotiated() & Feature.mask(bit)) != 0 ? "negotiated" : "offered";
  }

  private static String link(NetworkDevice network) {
    return network.isUp().map(up -> up ? "up" : "down").orElse("not told");
  }

  /** The same as JSON, plain numbers, only what the device has. */
  static Map<String, Object> json(VirtioReport report) {
    NetworkDevice network = report.network();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("vendor_id", network.ids().vendor());
    json.put("device_id", network.ids().device());
    json.put("revision", network.revision());
    json.put("structures", network.structures().stream().map(VirtioPrinter::json).toList());
    json.put("vectors", network.vectors());
    json.put("status", network.status());
    Map<String, Object> features = new LinkedHashMap<>();
    bits(network.offered()).forEach(bit -> features.put(report.feature(bit), extent(network, bit)));
    json.put("features", features);
    json.put("queues", network.queues().stream().map(VirtioPrinter::json).toList());
    network.mac().ifPresent(mac -> json.put("mac", "%012x".formatted(mac)));
    network.mtu().ifPresent(mtu -> json.put("mtu", mtu));
    json.put("link", link(network));
    report.roce().ifPresent(roce -> json.put("roce", json(roce)));
    if (report.roce().isEmpty()) {
      json.put("verbs_refused", report.refusal());
    }
    return json;
  }

  private static Map<String, Object> json(RegisterStructure structure) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", structure.name());
    json.put("bar", structure.bar());
    json.put("offset", structure.offset());
    json.put("length", structure.length());
    return json;
  }

  private static Map<String, Object> json(NetworkDevice.Queues queues) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("first", queues.first());
    json.put("last", queues.last());
    json.put("entries", queues.entries());
    return json;
  }

  private static Map<String, Object> json(RoceInformation roce) {
    QueuePlan queues = roce.queues();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("dialect", roce.dialect());
    json.put("feature_bit", roce.feature());
    json.put("control_queue", queues.control());
    json.put("completion_queues", queues.cqs());
    json.put("first_completion_queue", queues.completion(0));
    json.put("queue_pairs", queues.qps());
    json.put("first_send_queue", queues.send(0));
    json.put("gids", roce.gids());
    json.put("max_msg_sz", roce.maxMessage());
    json.put("commands", roce.commands());
    return json;
  }
}

package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.FeatureSupport;

/**
 * Prints the native, emulated and missing features of a device, its quirks, and recommendations. It
 * avoids the keywords that programs search for in the block of {@code ibv_devinfo}.
 */
final class FeaturePrinter {
  private static final String DEALT =
      "dealt by the driver: an idle queue pair keeps one, of UC and UD two, or 16 if it is alone";

  private FeaturePrinter() {}

  static void print(PrintWriter out, DeviceAttributes device) {
    out.printf("\tfeatures:\n");
    device
        .features()
        .forEach((feature, support) -> out.printf("\t\t%-32s%s\n", feature, support.text()));
    out.printf("\tquirks:\n");
    device.quirks().forEach(quirk -> out.printf("\t\t%s\n", quirk));
    DeviceAdvice advice = device.advice();
    out.printf("\tadvice:\n");
    out.printf(
        "\t\tdestinations:\t\t%s\n",
        advice.destinationAlignment() == 1
            ? "any address"
            : "aligned to %d bytes, every element but the last a multiple of them"
                .formatted(advice.destinationAlignment()));
    out.printf(
        "\t\tsends in the card:\t%s\n",
        advice.doorbellsInFlight() == 0
            ? "no bound"
            : "%d over all queue pairs, more wait in the driver"
                .formatted(advice.doorbellsInFlight()));
    out.printf(
        "\t\tsends of a queue pair:\t%s\n",
        advice.outstanding() == 0
            ? "no bound"
            : "%d in the card, more wait until those before are complete; use several queue pairs"
                .formatted(advice.outstanding()));
    out.printf(
        "\t\tRDMA READs:\t\t%s\n",
        advice.readBytes() == 0
            ? "no bound"
            : "%d bytes at a time over all queue pairs, longer ones in pieces"
                .formatted(advice.readBytes()));
    out.printf(
        "\t\treceive depth:\t\t%s\n",
        advice.receivesAhead()
            ? "all that the peer may have in flight, posted before it may send"
            : "any, senders wait for receives");
    out.printf("\t\tmemory keys:\t\t%s\n", keys(device));
    if (device.support(DeviceFeature.SHARED_RECEIVE_QUEUES) == FeatureSupport.SOFTWARE) {
      out.printf("\t\tshared receives:\t%s\n", DEALT);
    }
    out.printf("\n");
  }

  /** How queue pairs and memory regions share the keys. */
  private static String keys(DeviceAttributes device) {
    int each = device.advice().keysPerQueuePair();
    return each == 0
        ? "%d: one per region, one per completion queue; queue pairs share some"
            .formatted(device.maxMr())
        : "%d: one per region, one per completion queue, up to %d per queue pair, so at most %d queue pairs"
            .formatted(device.maxMr(), each, Math.min(device.maxQp(), device.maxMr() / each));
  }

  /** For JSON: each feature with its support. */
  static Map<String, Object> features(DeviceAttributes device) {
    Map<String, Object> json = new LinkedHashMap<>();
    device.features().forEach((feature, support) -> json.put(feature.name(), support.text()));
    return json;
  }

  /** For JSON: the quirks of the device. */
  static List<String> quirks(DeviceAttributes device) {
    return device.quirks().stream().map(DeviceQuirk::name).toList();
  }

  /** For JSON: the recommendations; only existing limits. */
  static Map<String, Object> advice(DeviceAttributes device) {
    DeviceAdvice advice = device.advice();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("destination_alignment", advice.destinationAlignment());
    if (advice.doorbellsInFlight() != 0) {
      json.put("doorbells_in_flight", advice.doorbellsInFlight());
    }
    if (advice.outstanding() != 0) {
      json.put("outstanding", advice.outstanding());
    }
    if (advice.readBytes() != 0) {
      json.put("read_bytes", advice.readBytes());
    }
    json.put("receives_ahead", advice.receivesAhead());
    json.put("keys_per_queue_pair", advice.keysPerQueuePair());
    return json;
  }
}

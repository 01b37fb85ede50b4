package org.hghca.tools;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceAttributes;

/**
 * Tells what a device has natively, what its driver makes up for and what is missing, and what to
 * heed on it. It uses none of the words that programs look for in the block of {@code ibv_devinfo}.
 */
final class FeaturePrinter {

  private FeaturePrinter() {}

  static void print(PrintWriter out, DeviceAttributes device) {
    out.printf("\tfeatures:\n");
    device
        .features()
        .forEach((feature, support) -> out.printf("\t\t%-32s%s\n", feature, support.text()));
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
        "\t\treceive depth:\t\t%s\n",
        advice.receivesAhead()
            ? "all that the peer may have under way, posted before it may send"
            : "any, senders wait for receives");
    out.printf("\n");
  }

  /** For JSON: each feature with its support. */
  static Map<String, Object> features(DeviceAttributes device) {
    Map<String, Object> json = new LinkedHashMap<>();
    device.features().forEach((feature, support) -> json.put(feature.name(), support.text()));
    return json;
  }

  /** For JSON: what to heed; only bounds that there are. */
  static Map<String, Object> advice(DeviceAttributes device) {
    DeviceAdvice advice = device.advice();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("destination_alignment", advice.destinationAlignment());
    if (advice.doorbellsInFlight() != 0) {
      json.put("doorbells_in_flight", advice.doorbellsInFlight());
    }
    json.put("receives_ahead", advice.receivesAhead());
    return json;
  }
}

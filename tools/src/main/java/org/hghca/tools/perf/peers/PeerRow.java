package org.hghca.tools.perf.peers;

import java.util.LinkedHashMap;
import java.util.Map;

/** What became of one size over one peer. */
public sealed interface PeerRow {
  /** The name of the peer. */
  String peer();

  /** Bytes of a message. */
  int size();

  /**
   * It was measured: medians of all rounds.
   *
   * @param megabytes a second, of 10^6 bytes
   * @param micros half a round trip
   * @param allocated bytes of heap for each message
   */
  record Measured(String peer, int size, double megabytes, double micros, double allocated)
      implements PeerRow {}

  /**
   * It was not.
   *
   * @param failed whether it should have been; otherwise the peer does not have such messages
   */
  record Unmeasured(String peer, int size, String why, boolean failed) implements PeerRow {}

  /** As an object of JSON. */
  default Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("peer", peer());
    json.put("bytes", size());
    switch (this) {
      case Measured row -> {
        json.put("MB_per_second", row.megabytes);
        json.put("ping_pong_p50_us", row.micros);
        json.put("allocated_bytes_per_message", row.allocated);
      }
      case Unmeasured row -> {
        json.put("reason", row.why);
        json.put("failed", row.failed);
      }
    }
    return json;
  }
}

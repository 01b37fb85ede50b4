package org.hghca.tools.demo;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.verbs.Counters;

/**
 * The result of a demo.
 *
 * @param server the server's device
 * @param client the client's device
 * @param checks the checks, all of which passed
 * @param messageBytes the size of large messages
 * @param speeds what was measured
 * @param counters of server and client
 */
public record DemoResult(
    String server,
    String client,
    List<String> checks,
    int messageBytes,
    Speeds speeds,
    Map<String, Counters> counters) {

  /** As a value to be written as JSON. */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("server", server);
    json.put("client", client);
    json.put("checks", checks);
    json.put("messages_per_second", Math.round(speeds.messagesPerSecond()));
    json.put("message_bytes", messageBytes);
    json.put("megabytes_per_second", Math.round(speeds.megabytesPerSecond() * 10) / 10.0);
    json.put("round_trips", speeds.roundTrips().toJson());
    json.put("write_round_trips", speeds.writeRoundTrips().toJson());
    return json;
  }
}

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
 * @param messagesPerSecond RDMA WRITEs of 8 bytes
 * @param messageBytes the size of the messages behind {@code megabytesPerSecond}
 * @param megabytesPerSecond by RDMA WRITEs, in 10^6 bytes
 * @param roundTrips of a SEND of 8 bytes each way
 * @param writeRoundTrips of an RDMA WRITE of 8 bytes each way
 * @param counters of server and client
 */
public record DemoResult(
    String server,
    String client,
    List<String> checks,
    double messagesPerSecond,
    int messageBytes,
    double megabytesPerSecond,
    RoundTrips roundTrips,
    RoundTrips writeRoundTrips,
    Map<String, Counters> counters) {

  /** As a value to be written as JSON. */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("server", server);
    json.put("client", client);
    json.put("checks", checks);
    json.put("messages_per_second", Math.round(messagesPerSecond));
    json.put("message_bytes", messageBytes);
    json.put("megabytes_per_second", Math.round(megabytesPerSecond * 10) / 10.0);
    json.put("round_trips", roundTrips.toJson());
    json.put("write_round_trips", writeRoundTrips.toJson());
    return json;
  }
}

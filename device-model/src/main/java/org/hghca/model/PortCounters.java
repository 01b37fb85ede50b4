package org.hghca.model;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.hghca.wire.link.LinkCounters;

/**
 * The counters of a port and its link by name, for the driver, which shows them with its own: see
 * {@code PciFunction.portCounters}.
 */
final class PortCounters {

  private PortCounters() {}

  static Map<String, Long> of(HcaCounters hca, Optional<LinkCounters> link) {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put("port_packets_sent", hca.packetsSent());
    values.put("port_packets_received", hca.packetsReceived());
    values.put("port_packets_dropped", hca.packetsDropped());
    values.put("port_retries", hca.retries());
    values.put("port_timeouts", hca.timeouts());
    values.put("port_naks_sent", hca.naksSent());
    values.put("port_naks_received", hca.naksReceived());
    values.put("port_rnr_naks_sent", hca.rnrNaksSent());
    values.put("port_rnr_naks_received", hca.rnrNaksReceived());
    values.put("port_congestion_marks", hca.congestionMarks());
    values.put("port_notifications_sent", hca.notificationsSent());
    values.put("port_notifications_received", hca.notificationsReceived());
    values.put("port_duplicates", hca.duplicates());
    link.ifPresent(
        counters -> {
          values.put("link_packets_sent", counters.sent());
          values.put("link_packets_received", counters.received());
          values.put("link_packets_not_sent", sum(counters.notSent()));
          values.put("link_packets_dropped", sum(counters.dropped()));
        });
    return values;
  }

  private static long sum(Map<?, Long> byCause) {
    return byCause.values().stream().mapToLong(Long::longValue).sum();
  }
}

package org.hghca.model.rtl.r1;

import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Contexts;
import org.hghca.model.rtl.Stops;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The packets of zeros that the card sends endlessly after a refused READ. On the card they end
 * when its peer takes no more of them; after a SEND or WRITE they are copies of the READ instead.
 */
final class ZeroStorm {
  /** Nanoseconds between two bursts: it must not block everything else. */
  private static final long PAUSE = 1_000_000;

  private final Contexts contexts;
  private final Stops stops;
  private final EthernetPort port;
  private final TransportCounters counters;

  /** Whose READ was refused; {@code null} for none. */
  private ConnectionState connection;

  /** Whether there was a burst, and the time of the last one. */
  private boolean raged;

  private long lastBurst;

  ZeroStorm(Contexts contexts, Stops stops, EthernetPort port, TransportCounters counters) {
    this.contexts = contexts;
    this.stops = stops;
    this.port = port;
    this.counters = counters;
  }

  void begin(ConnectionState of) {
    connection = of;
    contexts.writeBack(0);
    stops.stopAll("12.6", "READ of QP 0x%x was refused".formatted(of.qp.qpn));
  }

  /** Sends a burst, unless the last one was just now. */
  void rage(long now, int count) {
    if (connection == null || raged && now - lastBurst < PAUSE) {
      return;
    }
    raged = true;
    lastBurst = now;
    for (int i = 0; i < count; i++) {
      Packet packet = connection.address(port.pool().take());
      packet.opcode = 0;
      packet.psn = 0;
      packet.syndrome = 0;
      packet.msn = 0;
      packet.destinationQpn = 0;
      packet.sourceQpn = 0;
      counters.packetsSent++;
      port.transmit(packet);
    }
  }

  void reset() {
    connection = null;
    raged = false;
  }
}

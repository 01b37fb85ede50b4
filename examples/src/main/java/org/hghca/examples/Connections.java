package org.hghca.examples;

import java.util.concurrent.TimeoutException;
import org.hghca.cm.CarrierKind;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.cm.RdmaServer;

/**
 * Connections by address, on the device of an end. They are set up over the TCP of the machines,
 * which every device can, or with {@code -c ib} by the InfiniBand connection manager, {@link
 * CarrierKind#IB}, which software HCAs and peers with librdmacm have: no TCP is needed then, and
 * the addresses are those of the devices.
 */
final class Connections {

  private Connections() {}

  /** Makes a connection with options of the program's: accepts it, or connects. */
  interface Maker {
    RdmaConnection make(RdmaOptions options) throws Exception;
  }

  /** What all connections of an end have in common. */
  static RdmaOptions options(End end) {
    return RdmaOptions.DEFAULT
        .withDevice(end.context())
        .withCarrier(end.carrier())
        .withTimeout(End.PATIENCE);
  }

  /** Listens for clients. */
  static RdmaServer listen(End end) {
    RdmaServer server = RdmaServer.listen(end.bind(), options(end));
    end.listening(server.localAddress());
    return server;
  }

  /** Waits for the next client. */
  static RdmaConnection accept(RdmaServer server, RdmaOptions options) throws Exception {
    return server
        .next(End.PATIENCE)
        .orElseThrow(() -> new TimeoutException("nobody asked for a connection"))
        .accept(options);
  }

  /** Connects to the server. */
  static RdmaConnection connect(End end, RdmaOptions options) throws Exception {
    return RdmaConnection.connect(end.server(), options);
  }
}

package org.hghca.model.transport;

import java.util.HashMap;
import java.util.Map;

/** The loads of all addresses that connections have joined. Used by one thread. */
final class PeerLoads {
  /** A load that limits nothing, of the connections over a medium that keeps everything. */
  final PeerLoad unlimited = PeerLoad.unlimited();

  private final Map<Address, PeerLoad> loads = new HashMap<>();

  private record Address(long high, long low) {}

  /**
   * A connection joins the load of its peer's address.
   *
   * @param most units that are to be in flight to the address
   */
  PeerLoad join(long high, long low, int most) {
    PeerLoad load =
        loads.computeIfAbsent(new Address(high, low), _ -> new PeerLoad(high, low, most));
    load.join();
    return load;
  }

  /** A datagram of the connection manager came from an address. */
  void heard(long high, long low, long now) {
    PeerLoad load = loads.get(new Address(high, low));
    if (load != null) {
      load.heard(now);
    }
  }

  /** A connection leaves the load that it has joined, with nothing in flight. */
  void leave(PeerLoad load) {
    if (load != unlimited && load.leave()) {
      loads.remove(new Address(load.high, load.low));
    }
  }
}

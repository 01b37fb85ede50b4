package org.hghca.model.transport;

/**
 * How much a requester has in flight, and may have: a network keeps what it cannot deliver at once
 * in buffers of limited size, and a receiver's UDP socket has 208 KiB unless somebody raised it.
 *
 * <p>Loads are counted in units: a packet is one for each started KiB of its payload, and at least
 * one. READs and atomics count by their responses. As many units are in flight as the medium keeps,
 * and the connections to one address share them ({@link PeerLoad}), so that they do not overrun
 * such a socket; but each may have one packet in flight, or one piece of a READ, so that none waits
 * for another. A loss halves the window; each window that is acknowledged then adds a little.
 */
final class SendWindow {
  /** What losses leave. */
  static final int LEAST = 4;

  /** Units that a window of acknowledgements adds after a loss. */
  private static final int STEP = 4;

  private static final int UNIT_LOG = 10;

  /** Units in flight at most. */
  private final int most;

  private final PeerLoads loads;
  private PeerLoad load;
  private int size;
  private int inFlight;

  /** Those of them that count in the load: not those whose acknowledgement is late. */
  private int counted;

  /** Units acknowledged since the window last grew. */
  private int acknowledged;

  /** Units sent since an acknowledgement was last requested. */
  private int unasked;

  /**
   * @param most units that may be in flight as long as nothing is lost, at least 64
   * @param loads those that they may count in; at first they count in none
   */
  SendWindow(int most, PeerLoads loads) {
    this.most = most;
    this.loads = loads;
    this.load = loads.unlimited;
    this.size = most;
  }

  PeerLoad load() {
    return load;
  }

  /**
   * Counts in the load of an address from here on.
   *
   * @param together units that are to be in flight to the address
   */
  void joinLoad(long high, long low, int together) {
    PeerLoad before = load;
    if (before == loads.unlimited || before.low != low || before.high != high) {
      countIn(loads.join(high, low, together));
      loads.leave(before);
    }
  }

  /** Counts in no load any more. */
  void leaveLoad() {
    PeerLoad before = load;
    countIn(loads.unlimited);
    loads.leave(before);
  }

  private void countIn(PeerLoad other) {
    load.changed(counted, 0);
    load = other;
    load.changed(0, counted);
  }

  void reset() {
    size = most;
    acknowledged = 0;
    rewound();
  }

  /**
   * The packets of response that a READ asks for at a time. A longer one is several requests on the
   * wire, which end at multiples of this.
   */
  int readPackets(int mtu) {
    return most / 2 / units(mtu);
  }

  private static int units(long length) {
    return (int) Math.max(1, length + (1 << UNIT_LOG) - 1 >> UNIT_LOG);
  }

  /** Units of the packets of a request from one to below another. */
  static int units(SendWork request, int from, int to) {
    if (from >= to) {
      return 0;
    }
    int full = units(request.mtu);
    if (to < request.packets) {
      return full * (to - from);
    }
    long last = request.length() - (long) (request.packets - 1) * request.mtu;
    return full * (to - 1 - from) + units(last);
  }

  /** Whether losses have made it smaller. */
  boolean isReduced() {
    return size < most;
  }

  /** How many full packets of a request may be sent now. */
  int room(SendWork request) {
    return (limit() - inFlight) / units(request.mtu);
  }

  private int limit() {
    return Math.min(size, load.share());
  }

  /** Whether one of some packets must ask for an acknowledgement if they are sent now. */
  boolean asks(SendWork request, int from, int to) {
    return asks(units(request, from, to));
  }

  private boolean asks(int units) {
    int limit = limit();
    return unasked + units >= limit / 2 || inFlight + units >= limit || !load.takes(units + 1);
  }

  /** Packets of a request are sent, each by itself. */
  void sentEach(SendWork request, int from, int to) {
    int units = units(request, from, to);
    if (to < request.packets && !asks(units)) { // none of them asks
      unasked += units;
      become(inFlight + units);
      return;
    }
    for (int i = from; i < to; i++) {
      sent(request, i, i + 1, false);
    }
  }

  /** Whether packets of a request may be sent now. */
  boolean takes(SendWork request, int from, int to) {
    int units = units(request, from, to);
    if (inFlight > unasked) {
      return inFlight + units <= limit() && load.takes(units);
    }
    return inFlight > 0 // no answer is on its way that would let it go on
        || load.admits(units);
  }

  boolean isEmpty() {
    return inFlight == 0;
  }

  /**
   * Packets of a request are sent.
   *
   * @param answered whether the peer answers them, or is asked to, in any case
   * @return whether they must ask for an acknowledgement, so that the window never fills without
   */
  boolean sent(SendWork request, int from, int to, boolean answered) {
    int units = units(request, from, to);
    boolean asks = answered || to == request.packets || asks(units);
    unasked = asks ? 0 : unasked + units;
    become(inFlight + units);
    return asks;
  }

  private void become(int units) {
    int before = counted;
    counted = units > inFlight ? counted + units - inFlight : Math.min(counted, units);
    inFlight = units;
    load.changed(before, counted);
  }

  /** The acknowledgement is late: what is in flight may be lost, and is no load any more. */
  void late() {
    int before = counted;
    counted = 0;
    load.changed(before, 0);
  }

  /** Whether some of what is in flight counts in the load. */
  boolean counts() {
    return counted > 0;
  }

  /** Packets of a request are acknowledged. They may be ones that were sent before a rewind. */
  void acknowledged(SendWork request, int from, int to) {
    int units = units(request, from, to);
    become(Math.max(0, inFlight - units));
    load.acknowledged(units);
    if (size < most) {
      acknowledged += units;
      if (acknowledged >= size) {
        acknowledged = 0;
        size = Math.min(most, size + STEP);
      }
    }
  }

  /** Everything in flight is sent again. */
  void rewound() {
    become(0);
    unasked = 0;
  }

  /** A packet was lost. */
  void lost() {
    size = Math.max(LEAST, size / 2);
    acknowledged = 0;
  }
}

package org.hghca.model.transport;

/**
 * How much a requester has in flight, and may have: a network keeps what it cannot deliver at once
 * in buffers of limited size, and a receiver's UDP socket has 208 KiB unless somebody raised it.
 *
 * <p>Loads are counted in units: a packet is one for each started KiB of its payload, and at least
 * one. READs and atomics count by their responses. As many units are in flight as the medium keeps,
 * so that one queue pair does not overrun such a socket. A loss halves that, as it shows that
 * several share the buffer; each window that is acknowledged then adds a little.
 */
final class SendWindow {
  /** What losses leave. */
  static final int LEAST = 4;

  /** Units that a window of acknowledgements adds after a loss. */
  private static final int STEP = 4;

  private static final int UNIT_LOG = 10;

  /** Units in flight at most. */
  private final int most;

  private int size;
  private int inFlight;

  /** Units acknowledged since the window last grew. */
  private int acknowledged;

  /** Units sent since an acknowledgement was last requested. */
  private int unasked;

  /**
   * @param most units that may be in flight as long as nothing is lost, at least 64
   */
  SendWindow(int most) {
    this.most = most;
    this.size = most;
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
  private static int units(SendWork request, int from, int to) {
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
    return (size - inFlight) / units(request.mtu);
  }

  /** Whether one of some packets must ask for an acknowledgement if they are sent now. */
  boolean asks(SendWork request, int from, int to) {
    int units = units(request, from, to);
    return unasked + units >= size / 2 || inFlight + units >= size;
  }

  /** Packets of a request are sent, each by itself. */
  void sentEach(SendWork request, int from, int to) {
    int units = units(request, from, to);
    if (unasked + units < size / 2 && inFlight + units < size) {
      inFlight += units; // none of them asks
      unasked += units;
      return;
    }
    for (int i = from; i < to; i++) {
      sent(request, i, i + 1);
    }
  }

  /** Whether packets of a request may be sent now. */
  boolean takes(SendWork request, int from, int to) {
    return inFlight == 0 || inFlight + units(request, from, to) <= size;
  }

  /**
   * Packets of a request are sent.
   *
   * @return whether they must ask for an acknowledgement, so that the window never fills without
   */
  boolean sent(SendWork request, int from, int to) {
    int units = units(request, from, to);
    inFlight += units;
    unasked += units;
    boolean asks = unasked >= size / 2 || inFlight >= size;
    if (asks) {
      unasked = 0;
    }
    return asks;
  }

  /** Packets of a request are acknowledged. They may be ones that were sent before a rewind. */
  void acknowledged(SendWork request, int from, int to) {
    int units = units(request, from, to);
    inFlight = Math.max(0, inFlight - units);
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
    inFlight = 0;
    unasked = 0;
  }

  /** A packet was lost. */
  void lost() {
    size = Math.max(LEAST, size / 2);
    acknowledged = 0;
  }
}

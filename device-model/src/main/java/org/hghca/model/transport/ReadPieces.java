package org.hghca.model.transport;

/**
 * The READs and atomics that a requester has on the wire. A long READ is several requests there,
 * its pieces, which end at multiples of the packets that the window has for one.
 */
final class ReadPieces {
  private final SendWindow window;
  private int underWay;

  ReadPieces(SendWindow window) {
    this.window = window;
  }

  boolean isNone() {
    return underWay == 0;
  }

  /** Whether another may be asked for, of so many at a time; one may in any case. */
  boolean takes(int most) {
    return underWay == 0 || underWay < most;
  }

  /** The packet behind the piece with a packet. */
  int end(SendWork request, int packet) {
    if (packet == request.packets - 1) {
      return request.packets;
    }
    int most = window.readPackets(request.mtu);
    return Math.min(request.packets, packet - packet % most + most);
  }

  /** Whether a piece ends before a packet. */
  boolean endsBefore(SendWork request, int packet) {
    return packet == request.packets || packet % window.readPackets(request.mtu) == 0;
  }

  /** A piece is asked for. */
  void asked() {
    underWay++;
  }

  /** A piece has arrived. */
  void arrived() {
    underWay--;
  }

  /** All are asked for again, or none is any more. */
  void clear() {
    underWay = 0;
  }
}

package org.hghca.wire;

/** A first-in-first-out queue of packets that grows as needed; used by one thread. */
final class PacketQueue {
  private Packet[] ring = new Packet[64];
  private int head;
  private int tail;

  boolean isEmpty() {
    return head == tail;
  }

  void add(Packet packet) {
    if (tail - head == ring.length) {
      grow();
    }
    ring[tail++ & ring.length - 1] = packet;
  }

  Packet remove() {
    return ring[head++ & ring.length - 1];
  }

  private void grow() {
    Packet[] larger = new Packet[2 * ring.length];
    int count = tail - head;
    for (int i = 0; i < count; i++) {
      larger[i] = ring[head + i & ring.length - 1];
    }
    ring = larger;
    head = 0;
    tail = count;
  }
}

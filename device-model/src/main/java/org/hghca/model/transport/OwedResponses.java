package org.hghca.model.transport;

import org.hghca.model.link.Packet;
import org.hghca.model.link.PacketOpcode;

/** The READs and atomics that a responder has not yet answered in full, oldest first. */
final class OwedResponses {
  /** The most READs and atomics a responder serves at a time. */
  static final int CAPACITY = 128;

  private final long[] addresses = new long[CAPACITY];
  private final int[] keys = new int[CAPACITY];
  private final long[] left = new long[CAPACITY];
  private final int[] psns = new int[CAPACITY];
  private final int[] packetsLeft = new int[CAPACITY];
  private final boolean[] atomics = new boolean[CAPACITY];
  private final long[] originals = new long[CAPACITY];
  private int head;
  private int tail;

  /** Whether the oldest READ has been answered in part. */
  private boolean begun;

  void clear() {
    head = 0;
    tail = 0;
    begun = false;
  }

  int count() {
    return tail - head;
  }

  void addRead(Packet request, long length, int packets) {
    int at = tail++ & CAPACITY - 1;
    atomics[at] = false;
    addresses[at] = request.remoteAddress;
    keys[at] = request.remoteKey;
    left[at] = length;
    psns[at] = request.psn;
    packetsLeft[at] = packets;
  }

  /** Adds an atomic that was carried out, with its result in the request. */
  void addAtomic(Packet request) {
    int at = tail++ & CAPACITY - 1;
    atomics[at] = true;
    originals[at] = request.original;
    left[at] = 0;
    psns[at] = request.psn;
    packetsLeft[at] = 1;
  }

  /** Drops every answer from a PSN on, where {@code expected} is the PSN behind the newest. */
  void dropFrom(int psn, int expected) {
    int back = Psn.distance(psn, expected);
    while (tail != head) {
      int at = tail - 1 & CAPACITY - 1;
      int end = Psn.add(psns[at], packetsLeft[at]);
      if (Psn.distance(end, expected) >= back) {
        return;
      }
      tail--;
      if (tail == head) {
        begun = false;
      }
    }
  }

  boolean isAtomic() {
    return atomics[at()];
  }

  /** The result of an atomic. */
  long original() {
    return originals[at()];
  }

  int key() {
    return keys[at()];
  }

  long address() {
    return addresses[at()];
  }

  int psn() {
    return psns[at()];
  }

  /** Bytes of the next response. */
  int length(int mtu) {
    return (int) Math.min(mtu, left[at()]);
  }

  /** The BTH operation of the next response. */
  int operation() {
    if (isAtomic()) {
      return PacketOpcode.ATOMIC_ACKNOWLEDGE;
    }
    boolean isLast = packetsLeft[at()] == 1;
    if (begun) {
      return isLast ? PacketOpcode.READ_RESPONSE_LAST : PacketOpcode.READ_RESPONSE_MIDDLE;
    }
    return isLast ? PacketOpcode.READ_RESPONSE_ONLY : PacketOpcode.READ_RESPONSE_FIRST;
  }

  /** The next response has been sent. */
  void advance(int length) {
    int at = at();
    addresses[at] += length;
    left[at] -= length;
    psns[at] = Psn.add(psns[at], 1);
    begun = --packetsLeft[at] > 0;
    if (!begun) {
      head++;
    }
  }

  private int at() {
    return head & CAPACITY - 1;
  }
}

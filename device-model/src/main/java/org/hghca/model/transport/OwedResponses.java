package org.hghca.model.transport;

import java.util.ArrayList;
import java.util.List;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/** The READs and atomics that a responder has not yet fully answered, in PSN order. */
final class OwedResponses {
  /** The maximum number of READs and atomics that a responder serves at a time. */
  static final int CAPACITY = 128;

  private static final class Owed {
    boolean atomic;
    long original;
    long address;
    int key;
    long left;
    int psn;
    int packetsLeft;

    /** A READ that has been answered in part. */
    boolean begun;

    /** It was answered before, or is answered again. */
    boolean repeat;

    int end() {
      return Psn.add(psn, packetsLeft);
    }
  }

  private final List<Owed> owed = new ArrayList<>();
  private final List<Owed> free = new ArrayList<>();

  void clear() {
    free.addAll(owed);
    owed.clear();
  }

  boolean isEmpty() {
    return owed.isEmpty();
  }

  /** Their number without repeats, to which the responder's limit applies. */
  int fresh() {
    int count = 0;
    for (int i = 0; i < owed.size(); i++) {
      count += owed.get(i).repeat ? 0 : 1;
    }
    return count;
  }

  /** Adds a READ that follows all others. */
  void addRead(Packet request, long length, int packets) {
    owed.add(read(request, length, packets));
  }

  /** Adds an atomic that follows all others and was executed, with its result in the request. */
  void addAtomic(Packet request) {
    owed.add(atomic(request));
  }

  /** Adds a repeated READ; {@code expected} is the PSN after the newest request. */
  void repeatRead(Packet request, long length, int packets, int expected) {
    repeat(read(request, length, packets), expected);
  }

  /** Adds a repeated atomic; see {@link #addAtomic} and {@link #repeatRead}. */
  void repeatAtomic(Packet request, int expected) {
    repeat(atomic(request), expected);
  }

  /**
   * A repeat replaces the pending answers of its PSNs. It may be a late duplicate, whose answer is
   * not needed: later requests keep theirs.
   */
  private void repeat(Owed again, int expected) {
    again.repeat = true;
    int begin = Psn.distance(again.psn, expected);
    int end = begin - again.packetsLeft;
    int at = 0;
    while (at < owed.size() && Psn.distance(owed.get(at).end(), expected) >= begin) {
      at++;
    }
    while (at < owed.size() && Psn.distance(owed.get(at).psn, expected) > end) {
      free.add(owed.remove(at));
    }
    if (owed.size() < CAPACITY) {
      owed.add(at, again);
    } else {
      free.add(again);
    }
  }

  private Owed read(Packet request, long length, int packets) {
    Owed read = take(request, length, packets);
    read.atomic = false;
    read.address = request.remoteAddress;
    read.key = request.remoteKey;
    return read;
  }

  private Owed atomic(Packet request) {
    Owed atomic = take(request, 0, 1);
    atomic.atomic = true;
    atomic.original = request.original;
    return atomic;
  }

  private Owed take(Packet request, long length, int packets) {
    Owed taken = free.isEmpty() ? new Owed() : free.removeLast();
    taken.psn = request.psn;
    taken.left = length;
    taken.packetsLeft = packets;
    taken.begun = false;
    taken.repeat = false;
    return taken;
  }

  boolean isAtomic() {
    return owed.getFirst().atomic;
  }

  /** The result of an atomic. */
  long original() {
    return owed.getFirst().original;
  }

  int key() {
    return owed.getFirst().key;
  }

  long address() {
    return owed.getFirst().address;
  }

  int psn() {
    return owed.getFirst().psn;
  }

  boolean isRepeat() {
    return owed.getFirst().repeat;
  }

  /** Bytes of the next responses, of which all but the last are full. */
  int length(int full) {
    return (int) Math.min(full, owed.getFirst().left);
  }

  /** The BTH operation of the next response. */
  int operation() {
    Owed first = owed.getFirst();
    if (first.atomic) {
      return PacketOpcode.ATOMIC_ACKNOWLEDGE;
    }
    boolean isLast = first.packetsLeft == 1;
    if (first.begun) {
      return isLast ? PacketOpcode.READ_RESPONSE_LAST : PacketOpcode.READ_RESPONSE_MIDDLE;
    }
    return isLast ? PacketOpcode.READ_RESPONSE_ONLY : PacketOpcode.READ_RESPONSE_FIRST;
  }

  /** Responses to the first request that are left. */
  int packetsLeft() {
    return owed.getFirst().packetsLeft;
  }

  /** The next responses have been sent. */
  void advance(int packets, int length) {
    Owed first = owed.getFirst();
    first.address += length;
    first.left -= length;
    first.psn = Psn.add(first.psn, packets);
    first.begun = true;
    first.packetsLeft -= packets;
    if (first.packetsLeft == 0) {
      dropFirst();
    }
  }

  void dropFirst() {
    free.add(owed.removeFirst());
  }
}

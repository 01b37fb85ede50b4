package org.hghca.model.transport;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/** The READs and atomics that a responder has not yet fully answered, in PSN order. */
final class OwedResponses {
  /** The maximum number of READs and atomics that a responder serves at a time. */
  static final int CAPACITY = 128;

  /** More than those and as many repeats, a power of two. */
  private static final int SLOTS = 4 * CAPACITY;

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

  /** A ring; null where nothing ever was. */
  private final Owed[] slots = new Owed[SLOTS];

  private int first;
  private int count;

  /** Of these, the ones that are no repeats. */
  private int fresh;

  void clear() {
    count = 0;
    fresh = 0;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Their number without repeats, to which the responder's limit applies. */
  int fresh() {
    return fresh;
  }

  private Owed at(int index) {
    return slots[first + index & SLOTS - 1];
  }

  private void put(int index, Owed owed) {
    slots[first + index & SLOTS - 1] = owed;
  }

  private Owed oldest() {
    return slots[first];
  }

  /** Adds a READ that follows all others. */
  void addRead(Packet request, long length, int packets) {
    read(request, length, packets);
    fresh++;
  }

  /** Adds an atomic that follows all others and was executed, with its result in the request. */
  void addAtomic(Packet request) {
    atomic(request);
    fresh++;
  }

  /** Adds a repeated READ; {@code expected} is the PSN after the newest request. */
  void repeatRead(Packet request, long length, int packets, int expected) {
    read(request, length, packets);
    repeatNewest(expected);
  }

  /** Adds a repeated atomic; see {@link #addAtomic} and {@link #repeatRead}. */
  void repeatAtomic(Packet request, int expected) {
    atomic(request);
    repeatNewest(expected);
  }

  /**
   * The newest is a repeat, which replaces the pending answers of its PSNs. It may be a late
   * duplicate, whose answer is not needed: later requests keep theirs.
   */
  private void repeatNewest(int expected) {
    Owed again = at(--count);
    again.repeat = true;
    int begin = Psn.distance(again.psn, expected);
    int end = begin - again.packetsLeft;
    int place = 0;
    while (place < count && Psn.distance(at(place).end(), expected) >= begin) {
      place++;
    }
    int behind = place;
    while (behind < count && Psn.distance(at(behind).psn, expected) > end) {
      fresh -= at(behind).repeat ? 0 : 1;
      behind++;
    }
    remove(place, behind);
    if (count < CAPACITY) {
      insert(place);
    }
  }

  /** Removes those from one to below another; they become free slots. */
  private void remove(int from, int to) {
    for (int i = 0; i < count + 1 - to && from < to; i++) {
      Owed removed = at(from + i);
      put(from + i, at(to + i));
      put(to + i, removed);
    }
    count -= to - from;
  }

  /** Moves the one behind the last to a place. */
  private void insert(int place) {
    Owed moved = at(count);
    for (int i = count++; i > place; i--) {
      put(i, at(i - 1));
    }
    put(place, moved);
  }

  private void read(Packet request, long length, int packets) {
    Owed read = take(request, length, packets);
    read.atomic = false;
    read.address = request.remoteAddress;
    read.key = request.remoteKey;
  }

  private void atomic(Packet request) {
    Owed atomic = take(request, 0, 1);
    atomic.atomic = true;
    atomic.original = request.original;
  }

  private Owed take(Packet request, long length, int packets) {
    if (at(count) == null) {
      put(count, new Owed());
    }
    Owed taken = at(count++);
    taken.psn = request.psn;
    taken.left = length;
    taken.packetsLeft = packets;
    taken.begun = false;
    taken.repeat = false;
    return taken;
  }

  boolean isAtomic() {
    return oldest().atomic;
  }

  /** The result of an atomic. */
  long original() {
    return oldest().original;
  }

  int key() {
    return oldest().key;
  }

  long address() {
    return oldest().address;
  }

  int psn() {
    return oldest().psn;
  }

  boolean isRepeat() {
    return oldest().repeat;
  }

  /** Bytes of the next responses, of which all but the last are full. */
  int length(int full) {
    return (int) Math.min(full, oldest().left);
  }

  /** The BTH operation of the next response to a READ. */
  int operation() {
    Owed oldest = oldest();
    boolean isLast = oldest.packetsLeft == 1;
    if (oldest.begun) {
      return isLast ? PacketOpcode.READ_RESPONSE_LAST : PacketOpcode.READ_RESPONSE_MIDDLE;
    }
    return isLast ? PacketOpcode.READ_RESPONSE_ONLY : PacketOpcode.READ_RESPONSE_FIRST;
  }

  /** Responses to the first request that are left. */
  int packetsLeft() {
    return oldest().packetsLeft;
  }

  /** The next responses have been sent. */
  void advance(int packets, int length) {
    Owed oldest = oldest();
    oldest.address += length;
    oldest.left -= length;
    oldest.psn = Psn.add(oldest.psn, packets);
    oldest.begun = true;
    oldest.packetsLeft -= packets;
    if (oldest.packetsLeft == 0) {
      dropFirst();
    }
  }

  void dropFirst() {
    fresh -= oldest().repeat ? 0 : 1;
    first = first + 1 & SLOTS - 1;
    count--;
  }
}

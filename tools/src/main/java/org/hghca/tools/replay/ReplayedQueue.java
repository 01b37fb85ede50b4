package org.hghca.tools.replay;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.hghca.abi.Cqe;
import org.hghca.tools.replay.ReplayedMemory.Place;

/**
 * A CQ of the replay. A card writes its entries one after another and has no consumer index: the
 * n-th CQE of the recorded card is compared with the n-th one of this card, whoever consumed it
 * when. One thread at a time.
 */
final class ReplayedQueue {
  /** The byte that belongs to no field; the second RTL writes there what it had before. */
  private static final int UNUSED = 0x1e;

  private final int number;
  private final List<Place> slots;

  /** What each slot had when its newest CQE arrived; null when it has been free since. */
  private final byte[][] arrived;

  private final Deque<byte[]> expected = new ArrayDeque<>();
  private long arrivals;
  private long taken;
  private long compared;

  /**
   * An empty queue.
   *
   * @param slots the memory of each entry; their number is a power of two
   */
  ReplayedQueue(int number, List<Place> slots) {
    this.number = number;
    this.slots = slots;
    this.arrived = new byte[slots.size()][];
    for (int i = 0; i < slots.size(); i++) {
      Place slot = slots.get(i);
      arrived[i] = bytes(slot.mapping().image(), slot.offset()); // what it had before is no CQE
      slot.mapping().own(slot.offset(), Cqe.SIZE);
      Cqe.fill(slot.mapping().memory(), slot.offset(), 1);
    }
  }

  /** The recorded program has consumed one more CQE. */
  void take() {
    taken++;
  }

  /** Looks which CQEs the recorded card has written. */
  void look() {
    while (hasArrived()) {
      int index = index(arrivals);
      byte[] entry = bytes(place(arrivals).mapping().image(), place(arrivals).offset());
      arrived[index] = entry;
      expected.add(entry);
      arrivals++;
    }
  }

  /** An entry that looks as in the round before is a new one only if it was consumed since. */
  private boolean hasArrived() {
    Place place = place(arrivals);
    MemorySegment image = place.mapping().image();
    int index = index(arrivals);
    if (Cqe.owner(image, place.offset()) == Cqe.SENTINEL) {
      arrived[index] = null;
      return false;
    }
    return taken > arrivals || !Arrays.equals(arrived[index], bytes(image, place.offset()));
  }

  /** Whether the trace has a CQE that was not compared yet. */
  boolean expects() {
    return !expected.isEmpty();
  }

  /** Whether this card has written the next CQE. */
  boolean hasNext() {
    Place place = place(compared);
    return Cqe.owner(place.mapping().memory(), place.offset()) != Cqe.SENTINEL;
  }

  /** The next CQE of the trace. */
  byte[] recorded() {
    return expected.element();
  }

  /** The next CQE of this card. */
  byte[] here() {
    Place place = place(compared);
    return bytes(place.mapping().memory(), place.offset());
  }

  /** The next CQE was compared, and its entry is free again. */
  void next() {
    Place place = place(compared);
    Cqe.fill(place.mapping().memory(), place.offset(), 1);
    expected.remove();
    compared++;
  }

  /** The queue has ended. */
  void close() {
    slots.forEach(slot -> slot.mapping().release(slot.offset(), Cqe.SIZE));
  }

  /** Such as {@code CQE 3 of CQ 0x81}, the next one to compare. */
  String name() {
    return "CQE %d of CQ 0x%x".formatted(compared, number);
  }

  private int index(long position) {
    return (int) (position & slots.size() - 1);
  }

  private Place place(long position) {
    return slots.get(index(position));
  }

  private static byte[] bytes(MemorySegment memory, long at) {
    byte[] bytes = memory.asSlice(at, Cqe.SIZE).toArray(ValueLayout.JAVA_BYTE);
    bytes[UNUSED] = 0;
    return bytes;
  }
}

package org.hghca.tools.perf.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Copies of memory in one thread: what any way to move messages is measured by. */
final class CopyPeer implements Peer {
  private static final int PAGE = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment here;
  private final MemorySegment there;

  /** For messages of at most some bytes. */
  CopyPeer(int largest) {
    here = arena.allocate(largest, PAGE).fill((byte) 1);
    there = arena.allocate(largest, PAGE).fill((byte) 2);
  }

  @Override
  public Flow send(int size, int count) {
    long allocated = Allocation.bytes();
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      MemorySegment.copy(here, 0, there, 0, size);
    }
    long nanos = System.nanoTime() - start;
    return new Flow(count, nanos, (double) (Allocation.bytes() - allocated) / count);
  }

  @Override
  public double pingPong(int size, int count) {
    RoundTrips trips = new RoundTrips(count);
    trips.begin();
    for (int i = 0; i < count; i++) {
      MemorySegment.copy(here, 0, there, 0, size);
      MemorySegment.copy(there, 0, here, 0, size);
      trips.next();
    }
    return trips.half();
  }

  @Override
  public void close() {
    arena.close();
  }
}

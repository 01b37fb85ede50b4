package org.hghca.vfio.trace;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/** Memory that a device can access, and what was in it when it was last looked at. */
final class RecordedMemory {
  private static final int PAGE = 4096;
  private static final int UNIT = Integer.BYTES;

  /** How often a page is copied that the device does not stop to write. */
  private static final int MOST_COPIES = 1000;

  private final MemorySegment memory;
  private final MemorySegment image;

  /** Takes what changes. */
  interface Changes {
    void changed(long offset, byte[] bytes);
  }

  /** Memory that is taken as zeros so far. */
  RecordedMemory(MemorySegment memory) {
    this.memory = memory;
    this.image = Arena.ofAuto().allocate(memory.byteSize());
  }

  /**
   * Looks at the memory, and tells which dwords are others than before, in runs within a page.
   *
   * @throws IllegalStateException when the memory no longer exists
   * @throws WrongThreadException when it is confined to another thread
   */
  void look(Changes changes) {
    long size = memory.byteSize();
    for (long at = 0; at < size; at += PAGE) {
      long end = Math.min(size, at + PAGE);
      if (MemorySegment.mismatch(memory, at, end, image, at, end) >= 0) {
        look(at, (int) (end - at), changes);
      }
    }
  }

  private void look(long at, int length, Changes changes) {
    byte[] before = bytes(image, at, length);
    byte[] now = settled(at, length);
    int from = 0;
    while (from < length) {
      int to = from;
      while (to < length && differs(before, now, to)) {
        to = Math.min(length, to + UNIT);
      }
      if (to > from) {
        changes.changed(at + from, Arrays.copyOfRange(now, from, to));
      }
      from = to + UNIT;
    }
    MemorySegment.copy(now, 0, image, ValueLayout.JAVA_BYTE, at, length);
  }

  private static boolean differs(byte[] before, byte[] now, int at) {
    int end = Math.min(before.length, at + UNIT);
    return !Arrays.equals(before, at, end, now, at, end);
  }

  /** A page of which two copies agree: no owner in it is newer than the entry that it is of. */
  private byte[] settled(long at, int length) {
    byte[] copy = bytes(memory, at, length);
    for (int copies = 1; copies < MOST_COPIES; copies++) {
      VarHandle.fullFence();
      byte[] again = bytes(memory, at, length);
      if (Arrays.equals(copy, again)) {
        break;
      }
      copy = again;
    }
    return copy;
  }

  private static byte[] bytes(MemorySegment segment, long at, int length) {
    byte[] bytes = new byte[length];
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, bytes, 0, length);
    return bytes;
  }
}

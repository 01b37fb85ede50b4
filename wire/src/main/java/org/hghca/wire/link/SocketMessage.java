package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** {@code struct msghdr} with one piece of memory, made once and used again and again. */
final class SocketMessage {
  private static final int HEADER = 56;
  private static final int VECTOR = 16;

  private final MemorySegment header = Arena.ofAuto().allocate(HEADER + VECTOR, 8);

  SocketMessage() {
    header.set(ValueLayout.JAVA_LONG, 16, header.address() + HEADER);
    header.set(ValueLayout.JAVA_LONG, 24, 1);
  }

  /** The message that is a part of a memory; good until the next call. */
  MemorySegment of(MemorySegment memory, long at, long length) {
    header.set(ValueLayout.JAVA_LONG, HEADER, memory.address() + at);
    header.set(ValueLayout.JAVA_LONG, HEADER + 8, length);
    return header;
  }
}

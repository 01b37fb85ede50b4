package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.vfio.direct.RingMemory;
import org.junit.jupiter.api.Test;

class QueueBytesTest {
  private final QueueBytes bytes = new QueueBytes(32);
  private final MemorySegment host = Arena.global().allocate(64, 8);
  private final RingMemory memory = RingMemory.guarded(host);

  @Test
  void placeCountsForTheAlignment() {
    bytes.place(memory.at(16));
    assertThat(bytes.isAligned()).isTrue();
    bytes.place(memory.at(20));
    assertThat(bytes.isAligned()).isFalse();
  }

  @Test
  void bytesAreThoseOfThePlaceOrOfTheCopy() {
    host.fill((byte) 1);
    bytes.place(memory.at(8));
    host.set(ValueLayout.JAVA_BYTE, 8 + 31, (byte) 2);
    assertThat(QueueBytes.MEMORY.get(ValueLayout.JAVA_BYTE, bytes.at() + 31)).isEqualTo((byte) 2);

    MemorySegment copy = bytes.copy().fill((byte) 3);
    assertThat(copy.byteSize()).isEqualTo(32);
    assertThat(QueueBytes.MEMORY.get(ValueLayout.JAVA_BYTE, bytes.at())).isEqualTo((byte) 3);
  }
}

package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class QueueBytesTest {
  private final QueueBytes bytes = new QueueBytes(32);

  @Test
  void placeCountsForTheAlignment() {
    MemorySegment host = Arena.ofAuto().allocate(64, 8);
    bytes.place(host, 16);
    assertThat(bytes.isAligned()).isTrue();
    bytes.place(host, 20);
    assertThat(bytes.isAligned()).isFalse();
    bytes.place(host.asSlice(4), 20);
    assertThat(bytes.isAligned()).isTrue();
  }

  @Test
  void bytesAreThoseOfThePlaceOrOfTheCopy() {
    MemorySegment host = Arena.ofAuto().allocate(64, 8).fill((byte) 1);
    bytes.place(host, 8);
    host.set(ValueLayout.JAVA_BYTE, 8 + 31, (byte) 2);
    assertThat(bytes.get(31)).isEqualTo((byte) 2);
    bytes.copy().fill((byte) 3);
    assertThat(bytes.get(31)).isEqualTo((byte) 3);
    assertThat(bytes.memory().byteSize()).isEqualTo(32);
  }
}

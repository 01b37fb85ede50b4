package org.hghca.programs.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The texts are those that rping of rdma-core 56.1 prints. */
class PingTextTest {
  private final MemorySegment memory = Arena.ofAuto().allocate(64);

  private String ping(int number) {
    PingText.fill(memory, number);
    return PingText.of(memory);
  }

  @Test
  void pingsAreThoseOfTheOriginal() {
    assertThat(ping(0))
        .isEqualTo("rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
    assertThat(ping(1))
        .isEqualTo("rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs");
    assertThat(ping(57)).startsWith("rdma-ping-57: zABCDEF");
    assertThat(ping(58)).startsWith("rdma-ping-58: ABCDEF");
  }

  @Test
  void lastByteIsZero() {
    PingText.fill(memory, 3);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 63)).isZero();
    assertThat(PingText.length(memory)).isEqualTo(63);
  }

  @Test
  void textWithoutZeroEndsWithItsMemory() {
    MemorySegment full = MemorySegment.ofArray("abc".getBytes(StandardCharsets.US_ASCII));
    assertThat(PingText.of(full)).isEqualTo("abc");
  }

  @Test
  void advertisementIsBigEndian() {
    new Advertisement(0x0102030405060708L, 0x11121314, 64).writeTo(memory);
    byte[] bytes = memory.asSlice(0, Advertisement.BYTES).toArray(ValueLayout.JAVA_BYTE);
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("01020304050607081112131400000040");
    assertThat(Advertisement.readFrom(memory))
        .isEqualTo(new Advertisement(0x0102030405060708L, 0x11121314, 64));
  }
}

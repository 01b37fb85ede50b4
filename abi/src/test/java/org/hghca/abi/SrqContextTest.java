package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class SrqContextTest {
  private static final String BYTES =
      "1a012345 89abcdef 00010000 38000077 00000001 23456780 00000abc 000700ff 0000beef"
              .replace(" ", "")
          + "00".repeat(28);

  private static final SrqContext CONTEXT =
      new SrqContext(
          1, 10, 0x01_2345, 0x89ab_cdef, 0x1_0000, 7, 0x77, 0x1_2345_6780L, 0xabc, 7, 0xff, 0xbeef);

  @Test
  void everyFieldIsAtTheAncestorsPosition() {
    MemorySegment mailbox = MemorySegment.ofArray(new byte[64]).fill((byte) -1);
    CONTEXT.encode(mailbox);
    assertThat(HexFormat.of().formatHex(mailbox.toArray(ValueLayout.JAVA_BYTE))).isEqualTo(BYTES);
    assertThat(SrqContext.decode(MemorySegment.ofArray(HexFormat.of().parseHex(BYTES))))
        .isEqualTo(CONTEXT);
  }

  @Test
  void countIsBigEndian() {
    MemorySegment memory = Arena.ofAuto().allocate(16, 8);
    SrqContext.writeCount(memory, 4, 0x0102_0304);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 4)).isEqualTo((byte) 1);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 4);
    assertThat(SrqContext.readCount(memory, 4)).isEqualTo(0x0102_0304);
  }
}

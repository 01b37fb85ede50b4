package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class HalfEntryTest {
  private final byte[] bytes = new byte[32];
  private final MemorySegment memory = MemorySegment.ofArray(bytes);

  private String entry(int at) {
    return HexFormat.of().formatHex(bytes, at, at + HalfEntry.BYTES);
  }

  @Test
  void isWrittenInTheByteOrderOfThePeer() {
    HalfEntry.put(memory, 0, ByteOrder.LITTLE_ENDIAN, 0x1122_3344_5566_7788L, 0x99aa_bbcc, 65536);
    HalfEntry.put(memory, 16, ByteOrder.BIG_ENDIAN, 0x1122_3344_5566_7788L, 0x99aa_bbcc, 65536);
    assertThat(entry(0)).isEqualTo("8877665544332211" + "ccbbaa99" + "00000100");
    assertThat(entry(16)).isEqualTo("1122334455667788" + "99aabbcc" + "00010000");
  }

  @Test
  void isReadInTheOwnByteOrder() {
    byte[] written = HexFormat.of().parseHex("8877665544332211" + "ccbbaa99" + "ffffffff");
    System.arraycopy(written, 0, bytes, 16, written.length);
    assertThat(HalfEntry.address(memory, 16)).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(HalfEntry.key(memory, 16)).isEqualTo(0x99aa_bbcc);
    assertThat(HalfEntry.length(memory, 16)).isEqualTo(0xffff_ffffL);
  }
}

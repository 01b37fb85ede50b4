package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MulticastGroupTest {
  private static final String HEADER = "00".repeat(16) + "00000000000000000000ffffef010203";

  private static final MulticastGroup GROUP =
      new MulticastGroup(0, 0xffff_ef01_0203L, List.of(0x12_3456, 7));

  @Test
  void gidAndNumbersAreAtTheAncestorsOffsets() {
    MemorySegment mailbox = MemorySegment.ofArray(new byte[256]).fill((byte) -1);
    GROUP.encode(mailbox);
    String bytes = HEADER + "80123456" + "80000007" + "00000000".repeat(54);
    assertThat(HexFormat.of().formatHex(mailbox.toArray(ValueLayout.JAVA_BYTE))).isEqualTo(bytes);
    assertThat(MulticastGroup.decode(mailbox)).isEqualTo(GROUP);
    assertThat(MulticastGroup.describe(mailbox)).endsWith(" [0x123456 0x000007]");
  }

  @Test
  void numberWithoutItsBitIsUnused() {
    String bytes = HEADER + "00123456" + "80123456" + "00000000".repeat(53) + "80000007";
    MemorySegment mailbox = MemorySegment.ofArray(HexFormat.of().parseHex(bytes));
    assertThat(MulticastGroup.decode(mailbox)).isEqualTo(GROUP);
  }

  @Test
  void fiftySixQueuePairsFit() {
    List<Integer> most = IntStream.range(0, 56).boxed().toList();
    assertThat(new MulticastGroup(0, 0, most).queuePairs()).hasSize(56);
    List<Integer> more = IntStream.range(0, 57).boxed().toList();
    assertThatThrownBy(() -> new MulticastGroup(0, 0, more))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("56 queue pairs, not 57");
  }
}

package org.hghca.virtio.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class FieldTest {
  private final MemorySegment memory = MemorySegment.ofArray(new byte[16]);

  @Test
  void valuesAreUnsigned() {
    memory.fill((byte) 0xff);
    assertThat(Field.u8("a", 3).get(memory, 1)).isEqualTo(255);
    assertThat(Field.le16("a", 2).get(memory, 1)).isEqualTo(65535);
    assertThat(Field.le32("a", 4).getLong(memory, 1)).isEqualTo(0xffff_ffffL);
    assertThat(Field.le32("a", 4).get(memory, 1)).isEqualTo(-1);
    assertThat(Field.le64("a", 0).getLong(memory, 1)).isEqualTo(-1);
  }

  @Test
  void valueThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> Field.u8("hop_limit", 21).set(memory, 0, 256))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("hop_limit@21:1", "8 bits", "0x100");
    assertThatThrownBy(() -> Field.le16("index", 0).set(memory, 0, -1))
        .hasMessageContainingAll("index@0:2", "16 bits", "0xffffffff");
    assertThatThrownBy(() -> Field.le32("lkey", 4).setLong(memory, 0, 0x1_0000_0000L))
        .hasMessageContainingAll("lkey@4:4", "32 bits", "0x100000000");
    assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
  }

  @Test
  void fieldOfEightBytesIsNoInt() {
    Field address = Field.le64("addr", 8);
    assertThatThrownBy(() -> address.get(memory, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> address.set(memory, 0, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> address.setLong(memory, 1, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void placeMustBeNatural() {
    assertThatThrownBy(() -> new Field("a", 0, 3)).hasMessage("a: a field has no 3 bytes");
    assertThatThrownBy(() -> Field.le32("a", 6)).hasMessage("a: offset 6 is not a multiple of 4");
    assertThatThrownBy(() -> Field.u8("a", -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Bytes("a", -1, 4)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Bytes("a", 0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(Field.le32("a", 8).end()).isEqualTo(12);
    assertThat(new Bytes("a", 24, 6).end()).isEqualTo(30);
  }
}

package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.BitMap.AT;
import static org.hghca.abi.BitMap.bits;
import static org.hghca.abi.BitMap.join;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class EqeTest {
  @Test
  void gettersReadTheirBytesAndTheDataIsBigEndian() {
    new BitMap(32)
        .field("type", bits(0x01, 7, 0), m -> Eqe.type(m, AT))
        .field("subtype", bits(0x03, 7, 0), m -> Eqe.subtype(m, AT))
        .field(
            "data",
            join(bits(7, 7, 0), bits(6, 7, 0), bits(5, 7, 0), bits(4, 7, 0)),
            m -> Integer.toUnsignedLong(Eqe.data(m, AT)))
        .field("owner", bits(0x1f, 7, 0), m -> Eqe.owner(m, AT))
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void encodeFillsAllThirtyTwoBytes() {
    assertThat(Eqe.SIZE).isEqualTo(32);
    // Port change (09h), port up (4), port 1.
    assertThat(BitMap.encoded(32, m -> Eqe.encode(m, AT, 0x09, 4, 1)))
        .isEqualTo("0009000400000001" + "00".repeat(24));
    // CQ_ERROR (04h) of CQ 0x123456.
    assertThat(BitMap.encoded(32, m -> Eqe.encode(m, AT, 0x04, 0, 0x123456)))
        .isEqualTo("0004000000123456" + "00".repeat(24));
  }

  @Test
  void ownerOfAnArmedEntryIsTheCardAndOfAWrittenOneSoftware() {
    MemorySegment memory = BitMap.memory("00".repeat(32));
    Eqe.free(memory, AT);
    assertThat(Eqe.owner(memory, AT)).isEqualTo(0x80);
    assertThat(BitMap.hex(memory.asSlice(AT, 32))).isEqualTo("00".repeat(31) + "80");
    Eqe.encode(memory, AT, Eqe.TYPE_COMPLETION, 0, 7);
    assertThat(Eqe.owner(memory, AT)).isEqualTo(0x00);
    assertThat(Eqe.data(memory, AT)).isEqualTo(7);
  }
}

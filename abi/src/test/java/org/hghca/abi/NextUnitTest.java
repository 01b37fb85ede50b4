package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.BitMap.AT;
import static org.hghca.abi.BitMap.bits;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NextUnitTest {
  @Test
  void gettersReadTheBitsOfTables342And343() {
    new BitMap(16)
        .field("nop", bits(0x00, 4, 0), m -> NextUnit.nextOpcode(m, AT))
        .field("nda", bits(0x00, 31, 6), m -> NextUnit.nextHeadUnits16(m, AT))
        .field("nds", bits(0x04, 5, 0), m -> NextUnit.nextSize16(m, AT))
        .field("F", bits(0x04, 6, 6), m -> NextUnit.nextFence(m, AT))
        .field("D", bits(0x04, 7, 7), m -> NextUnit.nextDbd(m, AT))
        .field("nee", bits(0x04, 31, 8), m -> NextUnit.nextEe(m, AT))
        .field("marker, S, E, C", bits(0x08, 3, 0), m -> NextUnit.flags(m, AT))
        .field("own size", bits(0x08, 13, 6), m -> NextUnit.size16(m, AT))
        .field("own opcode", bits(0x08, 21, 14), m -> NextUnit.opcode(m, AT))
        .field(
            "imm_data", bits(0x0c, 31, 0), m -> Integer.toUnsignedLong(NextUnit.immediate(m, AT)))
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void halvesHaveTheSameFields() {
    new BitMap(16)
        .field("nop", bits(0x00, 4, 0), m -> NextUnit.nextOpcode(NextUnit.next(m, AT)))
        .field("nda", bits(0x00, 31, 6), m -> NextUnit.nextHeadUnits16(NextUnit.next(m, AT)))
        .field("nds", bits(0x04, 5, 0), m -> NextUnit.nextSize16(NextUnit.next(m, AT)))
        .field("F", bits(0x04, 6, 6), m -> NextUnit.nextFence(NextUnit.next(m, AT)))
        .field("marker, S, E, C", bits(0x08, 3, 0), m -> NextUnit.flags(NextUnit.own(m, AT)))
        .field("own opcode", bits(0x08, 21, 14), m -> NextUnit.opcode(NextUnit.own(m, AT)))
        .field(
            "imm_data",
            bits(0x0c, 31, 0),
            m -> Integer.toUnsignedLong(NextUnit.immediate(NextUnit.own(m, AT))))
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void flagsAreWhereTable343PutsThem() {
    assertThat(NextUnit.SOLICITED).isEqualTo(0b0010);
    assertThat(NextUnit.EVENT).isEqualTo(0b0100);
    assertThat(NextUnit.COMPLETION).isEqualTo(0b1000);
    assertThat(NextUnit.MARKER).isEqualTo(0b0001);
    assertThat(NextUnit.ADDRESS_MARKER).isEqualTo(0x20);
  }

  @Test
  void composesTheDwordsOfAChainedWrite() {
    // Next WQE: a fenced RDMA READ of 3 units at byte 0xffe00 of the ring. This WQE: an
    // RDMA_WRITE_IMM of 4 units, solicited, with completion and marker.
    assertThat(NextUnit.address(0xffe0, 0x10)).isEqualTo(0x003f_f810);
    assertThat(NextUnit.size(3, 1)).isEqualTo(0x43);
    assertThat(
            NextUnit.control(0x09, 4, NextUnit.SOLICITED | NextUnit.COMPLETION | NextUnit.MARKER))
        .isEqualTo(0x0002_410b);
  }

  @Test
  void composingDropsBitsOutsideAField() {
    assertThat(NextUnit.address(0, 0xffff_ffff)).isEqualTo(0x1f);
    assertThat(NextUnit.address(0xffff_ffff, 0)).isEqualTo(0xffff_ffc0);
    assertThat(NextUnit.size(0xffff_ffff, 0)).isEqualTo(0x3f);
    assertThat(NextUnit.size(0, 0xffff_ffff)).isEqualTo(0x40);
    assertThat(NextUnit.control(0xffff_ffff, 0, 0)).isEqualTo(0x003f_c000);
    assertThat(NextUnit.control(0, 0xffff_ffff, 0)).isEqualTo(0x3fc0);
    assertThat(NextUnit.control(0, 0, 0xffff_ffff)).isEqualTo(0xf);
  }

  @Test
  void writeFillsAllSixteenBytesLittleEndian() {
    assertThat(
            BitMap.encoded(
                16, m -> NextUnit.write(m, AT, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c)))
        .isEqualTo("000102030405060708090a0b0c0d0e0f");
  }

  @Test
  void linkSetsTheNextWqeAndKeepsEveryOtherBit() {
    MemorySegment memory = BitMap.memory("ffffffffffffffffffffffffffffffff");
    NextUnit.link(memory, AT, 0, 0, 0, 0);
    // dw0[5], D, nee and dwords 2 and 3 stay.
    assertThat(BitMap.hex(memory.asSlice(AT, 16))).isEqualTo("2000000080ffffffffffffffffffffff");

    memory = BitMap.memory("00000000000000000000000000000000");
    NextUnit.link(memory, AT, 0x20, 0x0a, 2, 1);
    assertThat(BitMap.hex(memory.asSlice(AT, 16))).isEqualTo("0a080000420000000000000000000000");
  }

  @Test
  void chainSetsTheNextWqeAndKeepsItsOwnHalf() {
    MemorySegment memory = BitMap.memory("0000000000000000ffffffffffffffff");
    NextUnit.chain(memory, AT, 0x20, 0x0a, 2);
    assertThat(BitMap.hex(memory.asSlice(AT, 16))).isEqualTo("0a08000002000000ffffffffffffffff");
  }

  @Test
  void linkReplacesAnEarlierLink() {
    MemorySegment memory = BitMap.memory("ca0f00007f0000000000000000000000");
    NextUnit.link(memory, AT, 1, 0x08, 3, 0);
    assertThat(NextUnit.nextHeadUnits16(memory, AT)).isEqualTo(1);
    assertThat(NextUnit.nextOpcode(memory, AT)).isEqualTo(0x08);
    assertThat(NextUnit.nextSize16(memory, AT)).isEqualTo(3);
    assertThat(NextUnit.nextFence(memory, AT)).isZero();
  }

  @Test
  void receiveIsUnlinkedMarkedInBothHalvesAndHasItsSize() {
    // dw0[5] and dw2[0] are the markers, dw2[13:6] = 7 units.
    String bytes = BitMap.encoded(16, m -> NextUnit.writeReceive(m, AT, 7));
    assertThat(bytes).isEqualTo("2000000000000000c101000000000000");
    MemorySegment memory = BitMap.memory(bytes);
    assertThat(NextUnit.isPosted(memory, AT)).isTrue();
    assertThat(NextUnit.nextSize16(memory, AT)).isZero();
    assertThat(NextUnit.nextHeadUnits16(memory, AT)).isZero();
    assertThat(NextUnit.size16(memory, AT)).isEqualTo(7);
  }

  @Test
  void clearedSlotIsNotPosted() {
    String bytes = BitMap.encoded(16, m -> NextUnit.clear(m, AT));
    assertThat(bytes).isEqualTo("00000000000000000000000000000000");
    assertThat(NextUnit.isPosted(BitMap.memory(bytes), AT)).isFalse();
  }

  @Test
  void anySingleBitMakesASlotPosted() {
    for (int bit = 0; bit < 128; bit++) {
      MemorySegment memory = BitMap.memory(BitMap.only(16, bit));
      assertThat(NextUnit.isPosted(memory, AT)).as("bit %d", bit).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void writtenFieldsAreReadBack(long seed) {
    var random = new SplittableRandom(seed);
    for (int i = 0; i < 1000; i++) {
      int head = random.nextInt(1 << 26);
      int nextOpcode = random.nextInt(1 << 5);
      int nextSize = random.nextInt(1 << 6);
      int fence = random.nextInt(2);
      int opcode = random.nextInt(1 << 8);
      int size = random.nextInt(1 << 8);
      int flags = random.nextInt(1 << 4);
      int immediate = random.nextInt();
      MemorySegment memory = BitMap.memory("ffffffffffffffffffffffffffffffff");
      NextUnit.write(
          memory,
          AT,
          NextUnit.address(head, nextOpcode),
          NextUnit.size(nextSize, fence),
          NextUnit.control(opcode, size, flags),
          immediate);
      assertThat(NextUnit.nextHeadUnits16(memory, AT)).isEqualTo(head);
      assertThat(NextUnit.nextOpcode(memory, AT)).isEqualTo(nextOpcode);
      assertThat(NextUnit.nextSize16(memory, AT)).isEqualTo(nextSize);
      assertThat(NextUnit.nextFence(memory, AT)).isEqualTo(fence);
      assertThat(NextUnit.nextDbd(memory, AT)).isZero();
      assertThat(NextUnit.nextEe(memory, AT)).isZero();
      assertThat(NextUnit.opcode(memory, AT)).isEqualTo(opcode);
      assertThat(NextUnit.size16(memory, AT)).isEqualTo(size);
      assertThat(NextUnit.flags(memory, AT)).isEqualTo(flags);
      assertThat(NextUnit.immediate(memory, AT)).isEqualTo(immediate);
    }
  }
}

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.DataUnit;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Interface document, section 3.4: the six units of a WQE, and the first table 3-3-3, its opcodes.
 * Each unit is written at offset 16 of a larger piece of memory. Dwords are little-endian.
 */
class WqeUnitsTest {
  private static final int AT = 16;

  /** Memory of all ones with a literal at offset 16. */
  private static String among(int size, String... literal) {
    String unit = Bytes.hex(literal);
    return "ff".repeat(AT) + unit + "ff".repeat(size - AT - unit.length() / 2);
  }

  private static MemorySegment read(String... literal) {
    return Bytes.of(among(80, literal));
  }

  @ParameterizedTest
  @CsvSource({
    // byte offset / 16 of the next WQE, its opcode, dw0
    "0x0000000, 0x00, 0x00000000",
    "0x0000001, 0x00, 0x00000040",
    "0x0000000, 0x1f, 0x0000001f",
    "0x000000c, 0x0a, 0x0000030a",
    "0x000ffff, 0x10, 0x003fffd0",
    "0x3ffffff, 0x00, 0xffffffc0",
  })
  void nextAddressCountsUnitsOf16BytesFromBit6(String head, String opcode, String dword) {
    int dw0 = Long.decode(dword).intValue();
    MemorySegment unit = Bytes.zeros(16);
    NextUnit.write(unit, 0, dw0, 0, 0, 0);

    assertThat(NextUnit.address(Integer.decode(head), Integer.decode(opcode))).isEqualTo(dw0);
    assertThat(NextUnit.nextHeadUnits16(unit, 0)).isEqualTo(Integer.decode(head));
    assertThat(NextUnit.nextOpcode(unit, 0)).isEqualTo(Integer.decode(opcode));
  }

  @ParameterizedTest
  @CsvSource({
    "0x00, 0, 0x00000000",
    "0x3f, 0, 0x0000003f",
    "0x00, 1, 0x00000040",
    "0x25, 1, 0x00000065",
  })
  void nextSizeHas6BitsAndFenceIsBit6(String size16, int fence, String dword) {
    int dw1 = Integer.decode(dword);
    MemorySegment unit = Bytes.zeros(16);
    NextUnit.write(unit, 0, 0, dw1, 0, 0);

    assertThat(NextUnit.size(Integer.decode(size16), fence)).isEqualTo(dw1);
    assertThat(NextUnit.nextSize16(unit, 0)).isEqualTo(Integer.decode(size16));
    assertThat(NextUnit.nextFence(unit, 0)).isEqualTo(fence);
  }

  @Test
  void flagsMatchTheBitsOfTable343() {
    assertThat(NextUnit.SIZE).isEqualTo(16);
    assertThat(NextUnit.SOLICITED).isEqualTo(0x2);
    assertThat(NextUnit.EVENT).isEqualTo(0x4);
    assertThat(NextUnit.COMPLETION).isEqualTo(0x8);
    assertThat(NextUnit.NEXT_FENCE).isEqualTo(0x40);
    assertThat(NextUnit.NEXT_DBD).isEqualTo(0x80);
    assertThat(NextUnit.NEXT_EE_SHIFT).isEqualTo(8);
  }

  @Test
  void unitIsWrittenLittleEndianAndReadFieldByField() {
    MemorySegment memory = Bytes.filled(80, 0xff);
    NextUnit.write(memory, AT, 0x0001234a, 0x56789ae5, 0x0000000e, 0xdeadbeef);

    String literal = "4a230100 e59a7856 0e000000 efbeadde";
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    MemorySegment read = read(literal);
    assertThat(NextUnit.nextHeadUnits16(read, AT)).isEqualTo(0x48d); // 1234ah >> 6
    assertThat(NextUnit.nextOpcode(read, AT)).isEqualTo(0x0a);
    assertThat(NextUnit.nextEe(read, AT)).isEqualTo(0x56789a);
    assertThat(NextUnit.nextDbd(read, AT)).isEqualTo(1);
    assertThat(NextUnit.nextFence(read, AT)).isEqualTo(1);
    assertThat(NextUnit.nextSize16(read, AT)).isEqualTo(0x25);
    assertThat(NextUnit.flags(read, AT)).isEqualTo(0xe);
    assertThat(NextUnit.immediate(read, AT)).isEqualTo(0xdeadbeef);
  }

  @Test
  void eachReaderReadsOnlyItsOwnBits() {
    MemorySegment ones = Bytes.filled(16, 0xff);
    assertThat(NextUnit.nextHeadUnits16(ones, 0)).isEqualTo(0x3ff_ffff);
    assertThat(NextUnit.nextOpcode(ones, 0)).isEqualTo(0x1f);
    assertThat(NextUnit.nextEe(ones, 0)).isEqualTo(0xff_ffff);
    assertThat(NextUnit.nextDbd(ones, 0)).isEqualTo(1);
    assertThat(NextUnit.nextFence(ones, 0)).isEqualTo(1);
    assertThat(NextUnit.nextSize16(ones, 0)).isEqualTo(0x3f);
    assertThat(NextUnit.flags(ones, 0)).isEqualTo(0xf);
    assertThat(NextUnit.size16(ones, 0)).isEqualTo(0xff);
    assertThat(NextUnit.opcode(ones, 0)).isEqualTo(0xff);
    assertThat(NextUnit.immediate(ones, 0)).isEqualTo(0xffffffff);
  }

  @ParameterizedTest
  @CsvSource({
    // own opcode, own size, flags, dw2: opcode 21:14, size 13:6, C E S 3:1, marker 0
    "0x08, 0x03, 0x0, 0x000200c0",
    "0x0a, 0x02, 0x9, 0x00028089",
    "0x10, 0x3f, 0xf, 0x00040fcf",
    "0xff, 0x00, 0x0, 0x003fc000",
    "0x00, 0xff, 0x0, 0x00003fc0",
    "0x0b, 0x20, 0x2, 0x0002c802",
  })
  void supersetBitsHoldTheOwnOpcodeAndSize(
      String opcode, String size16, String flags, String dword) {
    int dw2 = Integer.decode(dword);
    MemorySegment unit = Bytes.zeros(16);
    NextUnit.write(unit, 0, 0, 0, dw2, 0);

    assertThat(
            NextUnit.control(Integer.decode(opcode), Integer.decode(size16), Integer.decode(flags)))
        .isEqualTo(dw2);
    assertThat(NextUnit.opcode(unit, 0)).isEqualTo(Integer.decode(opcode));
    assertThat(NextUnit.size16(unit, 0)).isEqualTo(Integer.decode(size16));
    assertThat(NextUnit.flags(unit, 0)).isEqualTo(Integer.decode(flags));
  }

  @Test
  void supersetBitsAreBlankInTheDocument() {
    // dw0[5], dw2[0], dw2[13:6] and dw2[21:14] are no fields of table 3-4-3
    assertThat(NextUnit.ADDRESS_MARKER).isEqualTo(0x20);
    assertThat(NextUnit.MARKER).isEqualTo(0x1);
    assertThat(NextUnit.control(0xff, 0xff, NextUnit.MARKER) & 0xe).isZero();
  }

  @Test
  void linkingChangesOnlyTheLinkToTheNextWqe() {
    MemorySegment memory = read("20000000 00000000 0f0b0200 efbeadde");
    NextUnit.link(memory, AT, 0x10, 0x0a, 0x03, 1);

    assertThat(Bytes.hex(memory)).isEqualTo(among(80, "2a040000 43000000 0f0b0200 efbeadde"));

    NextUnit.link(memory, AT, 0, 0x08, 0x02, 0);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, "28000000 02000000 0f0b0200 efbeadde"));
  }

  @ParameterizedTest
  @CsvSource({
    // next unit, data units and terminator, in units of 16 bytes: dw2[13:6]
    "3, 20000000 00000000 c1000000 00000000",
    "8, 20000000 00000000 01020000 00000000",
    "32, 20000000 00000000 01080000 00000000",
  })
  void postedReceiveHasMarkersAndItsSizeAndNoLink(int size16, String literal) {
    MemorySegment memory = Bytes.filled(80, 0xff);
    NextUnit.writeReceive(memory, AT, size16);

    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    assertThat(NextUnit.isPosted(memory, AT)).isTrue();

    NextUnit.clear(memory, AT);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, "00".repeat(16)));
    assertThat(NextUnit.isPosted(memory, AT)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "01000000 00000000 00000000 00000000",
        "20000000 00000000 00000000 00000000",
        "00000000 00000080 00000000 00000000",
        "00000000 00000000 01000000 00000000",
        "00000000 00000000 00000000 01000000",
        "00000000 00000000 00000000 00000080",
      })
  void anySingleBitPostsAReceive(String literal) {
    assertThat(NextUnit.isPosted(read(literal), AT)).isTrue();
  }

  @Test
  void remoteAddressUnitMatchesTable344() {
    MemorySegment memory = Bytes.filled(80, 0xff);
    RemoteAddressUnit.write(memory, AT, 0x0000_7e00_1234_5678L, 0xabc08033);

    String literal = "78563412 007e0000 3380c0ab 00000000";
    assertThat(RemoteAddressUnit.SIZE).isEqualTo(16);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    assertThat(RemoteAddressUnit.address(read(literal), AT)).isEqualTo(0x0000_7e00_1234_5678L);
    assertThat(RemoteAddressUnit.rkey(read(literal), AT)).isEqualTo(0xabc08033);
  }

  @Test
  void atomicUnitMatchesTable346() {
    MemorySegment memory = Bytes.filled(80, 0xff);
    AtomicUnit.write(memory, AT, 0x0102030405060708L, 0xf1f2f3f4f5f6f7f8L);

    String literal = "08070605 04030201 f8f7f6f5 f4f3f2f1";
    assertThat(AtomicUnit.SIZE).isEqualTo(16);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    assertThat(AtomicUnit.swapAdd(read(literal), AT)).isEqualTo(0x0102030405060708L);
    assertThat(AtomicUnit.compare(read(literal), AT)).isEqualTo(0xf1f2f3f4f5f6f7f8L);
  }

  @Test
  void udUnitMatchesTable348() {
    MemorySegment memory = Bytes.filled(80, 0xff);
    UdUnit.write(
        memory,
        AT,
        0x01020304,
        0x123456789abcL,
        0xfedcba987654L,
        0x0a000102,
        0xc0a80203,
        0x00a1b2c3,
        0x81223344);

    String literal =
        Bytes.hex(
            "04030201 bc9a5476 78563412 98badcfe",
            "0201000a 0302a8c0 00000000 00000000",
            "c3b2a100 44332281 00000000 00000000");
    assertThat(UdUnit.SIZE).isEqualTo(48);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    MemorySegment read = read(literal);
    assertThat(UdUnit.port(read, AT)).isEqualTo(0x01020304);
    assertThat(UdUnit.sourceMac(read, AT)).isEqualTo(0x123456789abcL);
    assertThat(UdUnit.destinationMac(read, AT)).isEqualTo(0xfedcba987654L);
    assertThat(UdUnit.sourceIp(read, AT)).isEqualTo(0x0a000102);
    assertThat(UdUnit.destinationIp(read, AT)).isEqualTo(0xc0a80203);
    assertThat(UdUnit.destinationQpn(read, AT)).isEqualTo(0x00a1b2c3);
    assertThat(UdUnit.qkey(read, AT)).isEqualTo(0x81223344);
  }

  @ParameterizedTest
  @CsvSource({
    // length, header, units of 16 bytes with header and padding
    "1,          01000080, 1",
    "12,         0c000080, 1",
    "13,         0d000080, 2",
    "28,         1c000080, 2",
    "29,         1d000080, 3",
    "492,        ec010080, 31",
    "0x01020304, 04030281, 1056817",
  })
  void inlineUnitHasBit31AndItsLength(String length, String header, int units) {
    MemorySegment memory = Bytes.filled(80, 0xff);
    InlineUnit.writeHeader(memory, AT, Integer.decode(length));

    assertThat(InlineUnit.HEADER_SIZE).isEqualTo(4);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, header));
    assertThat(InlineUnit.length(read(header), AT)).isEqualTo(Integer.decode(length));
    assertThat(DataUnit.isInline(DataUnit.firstDword(read(header), AT))).isTrue();
    assertThat(InlineUnit.units(Integer.decode(length))).isEqualTo(units);
  }

  @ParameterizedTest
  @CsvSource({
    "0x00000001, 01000000",
    "0x00001770, 70170000",
    "0x7fffffff, ffffff7f",
  })
  void dataUnitMatchesTable3412(String byteCount, String firstDword) {
    MemorySegment memory = Bytes.filled(80, 0xff);
    DataUnit.write(memory, AT, Integer.decode(byteCount), 0x80000020, 0x0102030405060708L);

    String literal = firstDword + "20000080 08070605 04030201";
    assertThat(DataUnit.SIZE).isEqualTo(16);
    assertThat(Bytes.hex(memory)).isEqualTo(among(80, literal));
    MemorySegment read = read(literal);
    assertThat(DataUnit.isInline(DataUnit.firstDword(read, AT))).isFalse();
    assertThat(DataUnit.byteCount(read, AT)).isEqualTo(Integer.decode(byteCount));
    assertThat(DataUnit.lkey(read, AT)).isEqualTo(0x80000020);
    assertThat(DataUnit.address(read, AT)).isEqualTo(0x0102030405060708L);
  }

  @Test
  void receiveListEndsOnlyAtAnAllZeroUnit() {
    MemorySegment memory = Bytes.filled(80, 0xff);
    DataUnit.writeTerminator(memory, AT);

    assertThat(Bytes.hex(memory)).isEqualTo(among(80, "00".repeat(16)));
    assertThat(DataUnit.isTerminator(memory, AT)).isTrue();
    assertThat(DataUnit.isTerminator(read("00000000 00010000 00000000 00000000"), AT)).isFalse();
    assertThat(DataUnit.isTerminator(read("00000000 00000000 00000000 00000080"), AT)).isFalse();
    assertThat(DataUnit.isTerminator(read("00000080 00000000 00000000 00000000"), AT)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "0x00, NOP",
    "0x08, RDMA_WRITE",
    "0x09, RDMA_WRITE_IMM",
    "0x0a, SEND",
    "0x0b, SEND_IMM",
    "0x10, RDMA_READ",
    "0x11, ATOMIC_CS",
    "0x12, ATOMIC_FA",
    "0x18, BIND_MW",
    "0xff, INVALID",
  })
  void opcodesHaveTheNamesOfTable333(String code, String name) {
    assertThat(WqeOpcode.name(Integer.decode(code))).isEqualTo(name);
  }

  @Test
  void opcodesMatchTable333() {
    assertThat(WqeOpcode.NOP).isEqualTo(0x00);
    assertThat(WqeOpcode.RDMA_WRITE).isEqualTo(0x08);
    assertThat(WqeOpcode.RDMA_WRITE_IMM).isEqualTo(0x09);
    assertThat(WqeOpcode.SEND).isEqualTo(0x0a);
    assertThat(WqeOpcode.SEND_IMM).isEqualTo(0x0b);
    assertThat(WqeOpcode.RDMA_READ).isEqualTo(0x10);
    assertThat(WqeOpcode.ATOMIC_CS).isEqualTo(0x11);
    assertThat(WqeOpcode.ATOMIC_FA).isEqualTo(0x12);
    assertThat(WqeOpcode.BIND_MW).isEqualTo(0x18);
    assertThat(WqeOpcode.INVALID).isEqualTo(0xff);
    assertThat(WqeOpcode.name(0x1f)).contains("1f");
  }

  @Test
  void offsetsAndBitsMatchTheTables() {
    assertThat(NextUnit.ADDRESS_OFFSET).isEqualTo(0x00);
    assertThat(NextUnit.NEXT_SIZE_OFFSET).isEqualTo(0x04);
    assertThat(NextUnit.CONTROL_OFFSET).isEqualTo(0x08);
    assertThat(NextUnit.IMMEDIATE_OFFSET).isEqualTo(0x0c);
    assertThat(NextUnit.NEXT_OPCODE_MASK).isEqualTo(0x1f);
    assertThat(NextUnit.NEXT_ADDRESS_SHIFT).isEqualTo(6);
    assertThat(NextUnit.NEXT_SIZE_MASK).isEqualTo(0x3f);
    assertThat(NextUnit.SIZE_SHIFT).isEqualTo(6);
    assertThat(NextUnit.SIZE_MASK).isEqualTo(0xff);
    assertThat(NextUnit.OPCODE_SHIFT).isEqualTo(14);
    assertThat(NextUnit.OPCODE_MASK).isEqualTo(0xff);
    assertThat(RemoteAddressUnit.ADDRESS_OFFSET).isEqualTo(0x00);
    assertThat(RemoteAddressUnit.RKEY_OFFSET).isEqualTo(0x08);
    assertThat(AtomicUnit.SWAP_ADD_OFFSET).isEqualTo(0x00);
    assertThat(AtomicUnit.COMPARE_OFFSET).isEqualTo(0x08);
    assertThat(UdUnit.PORT_OFFSET).isEqualTo(0x00);
    assertThat(UdUnit.MAC_LOW_OFFSET).isEqualTo(0x04);
    assertThat(UdUnit.SOURCE_MAC_HIGH_OFFSET).isEqualTo(0x08);
    assertThat(UdUnit.DESTINATION_MAC_HIGH_OFFSET).isEqualTo(0x0c);
    assertThat(UdUnit.SOURCE_IP_OFFSET).isEqualTo(0x10);
    assertThat(UdUnit.DESTINATION_IP_OFFSET).isEqualTo(0x14);
    assertThat(UdUnit.DESTINATION_QPN_OFFSET).isEqualTo(0x20);
    assertThat(UdUnit.QKEY_OFFSET).isEqualTo(0x24);
    assertThat(InlineUnit.INLINE).isEqualTo(0x8000_0000);
    assertThat(InlineUnit.LENGTH_MASK).isEqualTo(0x7fff_ffff);
    assertThat(DataUnit.BYTE_COUNT_OFFSET).isEqualTo(0x00);
    assertThat(DataUnit.LKEY_OFFSET).isEqualTo(0x04);
    assertThat(DataUnit.ADDRESS_OFFSET).isEqualTo(0x08);
    assertThat(DataUnit.BYTE_COUNT_MASK).isEqualTo(0x7fff_ffff);
  }
}

package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.BitMap.AT;
import static org.hghca.abi.BitMap.bits;
import static org.hghca.abi.BitMap.join;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WqeUnitsTest {
  private static final int[] DMAC = join(bits(0x04, 31, 16), bits(0x0c, 31, 0));
  private static final int[] SMAC = join(bits(0x04, 15, 0), bits(0x08, 31, 0));

  @Test
  void unitsHaveTheSizesOfTheirTables() {
    assertThat(NextUnit.SIZE).isEqualTo(16);
    assertThat(RemoteAddressUnit.SIZE).isEqualTo(16);
    assertThat(AtomicUnit.SIZE).isEqualTo(16);
    assertThat(UdUnit.SIZE).isEqualTo(48);
    assertThat(DataUnit.SIZE).isEqualTo(16);
    assertThat(InlineUnit.HEADER_SIZE).isEqualTo(4);
  }

  @Test
  void remoteAddressUnitFollowsTables344And345() {
    new BitMap(16)
        .field("raddr", bits(0x00, 63, 0), m -> RemoteAddressUnit.address(m, AT))
        .field("rkey", bits(0x08, 31, 0), m -> unsigned(RemoteAddressUnit.rkey(m, AT)))
        .assertGettersSeeTheirBitsOnly();
    assertThat(
            BitMap.encoded(
                16, m -> RemoteAddressUnit.write(m, AT, 0x0706050403020100L, 0x0b0a0908)))
        .isEqualTo("000102030405060708090a0b00000000");
  }

  @Test
  void atomicUnitFollowsTables346And347() {
    new BitMap(16)
        .field("swap_add", bits(0x00, 63, 0), m -> AtomicUnit.swapAdd(m, AT))
        .field("cmp", bits(0x08, 63, 0), m -> AtomicUnit.compare(m, AT))
        .assertGettersSeeTheirBitsOnly();
    assertThat(
            BitMap.encoded(
                16, m -> AtomicUnit.write(m, AT, 0x0706050403020100L, 0x0f0e0d0c0b0a0908L)))
        .isEqualTo("000102030405060708090a0b0c0d0e0f");
  }

  @Test
  void udUnitFollowsTables348And349() {
    new BitMap(48)
        .field("port", bits(0x00, 31, 0), m -> unsigned(UdUnit.port(m, AT)))
        .field("dmac", DMAC, m -> UdUnit.destinationMac(m, AT))
        .field("smac", SMAC, m -> UdUnit.sourceMac(m, AT))
        .field("sip", bits(0x10, 31, 0), m -> unsigned(UdUnit.sourceIp(m, AT)))
        .field("dip", bits(0x14, 31, 0), m -> unsigned(UdUnit.destinationIp(m, AT)))
        .field("dqpn", bits(0x20, 31, 0), m -> unsigned(UdUnit.destinationQpn(m, AT)))
        .field("qkey", bits(0x24, 31, 0), m -> unsigned(UdUnit.qkey(m, AT)))
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void udUnitPacksMacsAndZeroesBlankDwords() {
    // Source 12:34:56:78:9a:bc 10.0.0.1, destination cb:a9:87:65:43:21 10.0.0.2, QP 0x123456.
    assertThat(
            BitMap.encoded(
                48,
                m ->
                    UdUnit.write(
                        m,
                        AT,
                        1,
                        0x1234_5678_9abcL,
                        0xcba9_8765_4321L,
                        0x0a000001,
                        0x0a000002,
                        0x123456,
                        0x80010000)))
        .isEqualTo(
            "01000000"
                + "bc9a2143"
                + "78563412"
                + "6587a9cb"
                + "0100000a"
                + "0200000a"
                + "0000000000000000"
                + "56341200"
                + "00000180"
                + "0000000000000000");
  }

  @Test
  void udUnitWithAnIpv6DestinationHasItInTheOrderOfTheWire() {
    // To 2001:db8::1234:5678:9abc:def0 from entry 5.
    String bytes =
        BitMap.encoded(
            48,
            m -> {
              UdUnit.write(
                  m, AT, 1, 0x1234_5678_9abcL, 0xcba9_8765_4321L, 0, 0, 0x123456, 0x80010000);
              UdUnit.writeIpv6(
                  m, AT, 0x2001_0db8_0000_0000L, 0x1234_5678_9abc_def0L, UdUnit.ipv6Path(5));
            });
    assertThat(bytes)
        .isEqualTo(
            "01000000"
                + "bc9a2143"
                + "78563412"
                + "6587a9cb"
                + "20010db80000000012345678"
                + "9abcdef0"
                + "56341200"
                + "00000180"
                + "00000580"
                + "00000000");
    MemorySegment unit = BitMap.memory(bytes);
    assertThat(UdUnit.isIpv6(unit, AT)).isTrue();
    assertThat(UdUnit.sourceIndex(unit, AT)).isEqualTo(5);
    assertThat(UdUnit.destinationGidHigh(unit, AT)).isEqualTo(0x2001_0db8_0000_0000L);
    assertThat(UdUnit.destinationGidLow(unit, AT)).isEqualTo(0x1234_5678_9abc_def0L);
  }

  @Test
  void fieldsOfAnIpv6Path() {
    new BitMap(48)
        .field("dgid high", wireOrder(0x10), m -> UdUnit.destinationGidHigh(m, AT))
        .field("dgid low", wireOrder(0x18), m -> UdUnit.destinationGidLow(m, AT))
        .field("sgid_index", bits(0x28, 23, 16), m -> UdUnit.sourceIndex(m, AT))
        .field("ipv6", bits(0x28, 31, 31), m -> UdUnit.isIpv6(m, AT) ? 1 : 0)
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void udUnitWithAPathHasItsFieldsInTheLastDwords() {
    String bytes =
        BitMap.encoded(
            48, m -> UdUnit.writePath(m, AT, UdUnit.path(UdUnit.ipv6Path(5), 0x40, 0xb9), 0xabcde));
    assertThat(bytes).isEqualTo("a5".repeat(40) + "b94005c0" + "debc0a00");
    MemorySegment unit = BitMap.memory(bytes);
    assertThat(UdUnit.hasPath(unit, AT)).isTrue();
    assertThat(UdUnit.isIpv6(unit, AT)).isTrue();
    assertThat(UdUnit.isPortByNumbers(unit, AT)).isFalse();
    String ports =
        BitMap.encoded(
            48, m -> UdUnit.writePath(m, AT, UdUnit.path(0, 1, 0), UdUnit.PORT_BY_NUMBERS));
    assertThat(ports).isEqualTo("a5".repeat(40) + "00010040" + "00000080");
    assertThat(UdUnit.isPortByNumbers(BitMap.memory(ports), AT)).isTrue();
  }

  @Test
  void fieldsOfAPath() {
    new BitMap(48)
        .field("hop_limit", bits(0x28, 15, 8), m -> UdUnit.hopLimit(m, AT))
        .field("tclass", bits(0x28, 7, 0), m -> UdUnit.trafficClass(m, AT))
        .field("path", bits(0x28, 30, 30), m -> UdUnit.hasPath(m, AT) ? 1 : 0)
        .field("flow_label", bits(0x2c, 19, 0), m -> UdUnit.flowLabel(m, AT))
        .field("port_by_numbers", bits(0x2c, 31, 31), m -> UdUnit.isPortByNumbers(m, AT) ? 1 : 0)
        .assertGettersSeeTheirBitsOnly();
  }

  /** The bits of 8 bytes whose first is the highest. */
  private static int[] wireOrder(int offset) {
    int[] all = new int[0];
    for (int at = 0; at < 8; at++) {
      all = join(bits(offset + at, 7, 0), all);
    }
    return all;
  }

  @Test
  void udUnitKeepsTheTwoMacsSeparate() {
    for (int i = 0; i < 48; i++) {
      long mac = 1L << i;
      assertThat(BitMap.encoded(48, m -> UdUnit.write(m, AT, 0, mac, 0, 0, 0, 0, 0)))
          .as("bit %d of smac", i)
          .isEqualTo(BitMap.only(48, SMAC[i]));
      assertThat(BitMap.encoded(48, m -> UdUnit.write(m, AT, 0, 0, mac, 0, 0, 0, 0)))
          .as("bit %d of dmac", i)
          .isEqualTo(BitMap.only(48, DMAC[i]));
    }
  }

  @Test
  void dataUnitFollowsTables3412And3413() {
    new BitMap(16)
        .field("byte_cnt", bits(0x00, 30, 0), m -> DataUnit.byteCount(m, AT))
        .field("lkey", bits(0x04, 31, 0), m -> unsigned(DataUnit.lkey(m, AT)))
        .field("addr", bits(0x08, 63, 0), m -> DataUnit.address(m, AT))
        .assertGettersSeeTheirBitsOnly();
    new BitMap(16)
        .field("byte_cnt", bits(0x00, 30, 0), m -> DataUnit.byteCount(DataUnit.lengthAndKey(m, AT)))
        .field(
            "lkey", bits(0x04, 31, 0), m -> unsigned(DataUnit.lkey(DataUnit.lengthAndKey(m, AT))))
        .assertGettersSeeTheirBitsOnly();
    assertThat(
            BitMap.encoded(
                16, m -> DataUnit.write(m, AT, 0x03020100, 0x87060504, 0x8f0e0d0c0b0a0908L)))
        .isEqualTo("000102030405068708090a0b0c0d0e8f");
  }

  @Test
  void dataUnitIsNeverTakenForInlineData() {
    String bytes = BitMap.encoded(16, m -> DataUnit.write(m, AT, 0xffff_ffff, 0, 0));
    assertThat(bytes).isEqualTo("ffffff7f000000000000000000000000");
    assertThat(DataUnit.isInline(DataUnit.firstDword(BitMap.memory(bytes), AT))).isFalse();
  }

  @Test
  void onlySixteenZeroBytesEndAReceiveList() {
    String bytes = BitMap.encoded(16, m -> DataUnit.writeTerminator(m, AT));
    assertThat(bytes).isEqualTo("00000000000000000000000000000000");
    assertThat(DataUnit.isTerminator(BitMap.memory(bytes), AT)).isTrue();
    for (int bit = 0; bit < 128; bit++) {
      assertThat(DataUnit.isTerminator(BitMap.memory(BitMap.only(16, bit)), AT))
          .as("bit %d set", bit)
          .isFalse();
      MemorySegment unit = BitMap.memory(BitMap.only(16, bit));
      assertThat(DataUnit.isTerminator(DataUnit.lengthAndKey(unit, AT), DataUnit.address(unit, AT)))
          .as("bit %d set", bit)
          .isFalse();
    }
  }

  @Test
  void inlineHeaderFollowsTables3410And3411() {
    new BitMap(4)
        .field("length", bits(0x00, 30, 0), m -> InlineUnit.length(m, AT))
        .assertGettersSeeTheirBitsOnly();
    assertThat(InlineUnit.length(0x800001ec)).isEqualTo(0x1ec);
    assertThat(BitMap.encoded(4, m -> InlineUnit.writeHeader(m, AT, 0x1ec))).isEqualTo("ec010080");
    assertThat(DataUnit.isInline(0x800001ec)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"0,1", "1,1", "12,1", "13,2", "28,2", "29,3", "100,7", "476,30", "492,31"})
  void inlineUnitIsPaddedToSixteenBytes(int length, int units) {
    assertThat(InlineUnit.units(length)).isEqualTo(units);
  }

  @Test
  void plainAccessTakesHeapMemoryOfAnyAlignment() {
    byte[] bytes = new byte[35];
    MemorySegment heap = MemorySegment.ofArray(bytes);
    DataUnit.write(heap, 3, 0x03020100, 0x07060504, 0x0f0e0d0c0b0a0908L);
    assertThat(BitMap.hex(heap.asSlice(3, 16))).isEqualTo("000102030405060708090a0b0c0d0e0f");
    Cqe.encodeError(heap, 3, 2, 64, 5, 0, true, 0);
    assertThat(Cqe.owner(heap, 3)).isZero();
    assertThat(Cqe.syndrome(heap, 3)).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void writtenFieldsAreReadBack(long seed) {
    var random = new SplittableRandom(seed);
    MemorySegment memory = BitMap.memory("ff".repeat(48));
    for (int i = 0; i < 1000; i++) {
      long a = random.nextLong();
      long b = random.nextLong();
      int c = random.nextInt();
      int d = random.nextInt();
      RemoteAddressUnit.write(memory, AT, a, c);
      assertThat(RemoteAddressUnit.address(memory, AT)).isEqualTo(a);
      assertThat(RemoteAddressUnit.rkey(memory, AT)).isEqualTo(c);
      AtomicUnit.write(memory, AT, a, b);
      assertThat(AtomicUnit.swapAdd(memory, AT)).isEqualTo(a);
      assertThat(AtomicUnit.compare(memory, AT)).isEqualTo(b);
      int length = random.nextInt() >>> 1;
      DataUnit.write(memory, AT, length, c, a);
      assertThat(DataUnit.byteCount(memory, AT)).isEqualTo(length);
      assertThat(DataUnit.lkey(memory, AT)).isEqualTo(c);
      assertThat(DataUnit.address(memory, AT)).isEqualTo(a);
      InlineUnit.writeHeader(memory, AT, length);
      assertThat(InlineUnit.length(memory, AT)).isEqualTo(length);
      long smac = a >>> 16;
      long dmac = b >>> 16;
      UdUnit.write(memory, AT, c, smac, dmac, d, ~d, ~c, c ^ d);
      assertThat(UdUnit.port(memory, AT)).isEqualTo(c);
      assertThat(UdUnit.sourceMac(memory, AT)).isEqualTo(smac);
      assertThat(UdUnit.destinationMac(memory, AT)).isEqualTo(dmac);
      assertThat(UdUnit.sourceIp(memory, AT)).isEqualTo(d);
      assertThat(UdUnit.destinationIp(memory, AT)).isEqualTo(~d);
      assertThat(UdUnit.destinationQpn(memory, AT)).isEqualTo(~c);
      assertThat(UdUnit.qkey(memory, AT)).isEqualTo(c ^ d);
    }
  }

  private static long unsigned(int value) {
    return Integer.toUnsignedLong(value);
  }
}

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.abi.FieldRow.row;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-9, 3-2-10, 3-2-13 and 3-2-14: INIT_HCA and MAP_ICM. */
class IcmTablesTest {
  private static final String HIGH56 = "ffffffffffffff00";

  static List<FieldRow> table329() {
    return List.of(
        row("qpc_base", InitHca.QPC_BASE, 0x08, HIGH56, "1122334455667700", 0x1122334455667700L),
        row("log_num_qps", InitHca.LOG_QPS, 0x0c, "000000ff", "0000000e", 0x0e),
        row("cqc_base", InitHca.CQC_BASE, 0x10, HIGH56, "2233445566778800", 0x2233445566778800L),
        row("log_num_cqs", InitHca.LOG_CQS, 0x14, "000000ff", "0000000d", 0x0d),
        row("eqc_base", InitHca.EQC_BASE, 0x18, HIGH56, "3344556677889900", 0x3344556677889900L),
        row("log_num_eqs", InitHca.LOG_EQS, 0x1c, "000000ff", "00000005", 0x05),
        row("mpt_base", InitHca.MPT_BASE, 0x30, HIGH56, "445566778899aa00", 0x445566778899aa00L),
        row("log_mpt_sz", InitHca.LOG_MPTS, 0x34, "000000ff", "00000012", 0x12),
        row(
            "mtt_base",
            InitHca.MTT_BASE,
            0x38,
            "ffffffffffffffff",
            "5566778899aabbcc",
            0x5566778899aabbccL));
  }

  @ParameterizedTest
  @MethodSource("table329")
  void initHcaFieldIsAtItsPlaceInTable329(FieldRow row) {
    row.check(64);
  }

  @Test
  void initHcaHasExactlyTheFieldsOfTable329() {
    FieldRow.checkComplete(InitHca.LAYOUT, 64, table329());
  }

  @Test
  void initHcaIsWrittenAndReadAsAWhole() {
    String literal =
        Bytes.hex(
            "00000000 00000000 01020304 0506070e",
            "11121314 1516170d 21222324 25262705",
            "00000000 00000000 00000000 00000000",
            "31323334 35363712 41424344 45464748");
    InitHca body =
        new InitHca(
            0x0102030405060700L,
            0x0e,
            0x1112131415161700L,
            0x0d,
            0x2122232425262700L,
            0x05,
            0x3132333435363700L,
            0x12,
            0x4142434445464748L);

    MemorySegment inbox = Bytes.filled(72, 0xff);
    body.encode(inbox);

    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(InitHca.decode(Bytes.of(literal))).isEqualTo(body);
  }

  static List<FieldRow> table3214() {
    return List.of(
        row(
            "virt",
            MapIcm.VIRTUAL_ADDRESS,
            0x00,
            "ffffffffffffffff",
            "1122334455667788",
            0x1122334455667788L),
        row(
            "page",
            MapIcm.PAGE_ADDRESS,
            0x08,
            "fffffffffffff000",
            "112233445566f000",
            0x112233445566f000L),
        row("page_num", MapIcm.PAGES, 0x0c, "00000fff", "00000abc", 0xabc));
  }

  @ParameterizedTest
  @MethodSource("table3214")
  void fieldOfAMapIcmEntryIsAtItsPlaceInTable3214(FieldRow row) {
    row.check(16);
  }

  @Test
  void mapIcmEntryHasExactlyTheFieldsOfTable3214() {
    FieldRow.checkComplete(MapIcm.ENTRY, 16, table3214());
    assertThat(MapIcm.PAGE_SIZE).isEqualTo(4096);
  }

  private static final List<IcmChunk> CHUNKS =
      List.of(
          new IcmChunk(0x1000000010000000L, 0x2000000000200000L, 0x001),
          new IcmChunk(0x1111111110001000L, 0x2111111100201000L, 0x011),
          new IcmChunk(0x1222222210002000L, 0x2222222200202000L, 0x111),
          new IcmChunk(0x1333333310003000L, 0x2333333300203000L, 0xfff),
          new IcmChunk(0x1444444410004000L, 0x2444444400204000L, 0x004));

  private static final String ENTRY0 = "1000000010000000 2000000000200001";
  private static final String ENTRY1 = "1111111110001000 2111111100201011";
  private static final String ENTRY2 = "1222222210002000 2222222200202111";
  private static final String ENTRY3 = "1333333310003000 2333333300203fff";
  private static final String ENTRY4 = "1444444410004000 2444444400204004";
  private static final String NONE = "0000000000000000 0000000000000000";

  static List<List<String>> inboxesByCount() {
    return List.of(
        List.of(NONE, ENTRY0),
        List.of(ENTRY1, ENTRY0),
        List.of(ENTRY1, ENTRY0, NONE, ENTRY2),
        List.of(ENTRY1, ENTRY0, ENTRY3, ENTRY2),
        List.of(ENTRY1, ENTRY0, ENTRY3, ENTRY2, NONE, ENTRY4));
  }

  @ParameterizedTest
  @CsvSource({"1, 32", "2, 32", "3, 64", "4, 64", "5, 96"})
  void laterEntryOfAPairIsFirstAndASingleOneIsAtTheEnd(int count, int size) {
    String literal = Bytes.hex(inboxesByCount().get(count - 1).toArray(String[]::new));
    List<IcmChunk> chunks = CHUNKS.subList(0, count);

    MemorySegment inbox = Bytes.filled(size + 8, 0xff);
    MapIcm.encode(inbox, chunks);

    assertThat(MapIcm.size(count)).isEqualTo(size);
    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(MapIcm.decode(Bytes.of(literal), count)).isEqualTo(chunks);
  }

  @ParameterizedTest
  @CsvSource({"0, 0x10", "1, 0x00", "2, 0x30", "3, 0x20", "4, 0x50", "5, 0x40", "254, 0xff0"})
  void entriesAreAtTheOffsetsOfTheirPairs(int index, String offset) {
    assertThat(MapIcm.offset(index)).isEqualTo(Integer.decode(offset));
  }

  @Test
  void countsAndAddressesBeyondTheInboxAreRefused() {
    MemorySegment inbox = Bytes.zeros(4096);
    assertThatThrownBy(() -> MapIcm.encode(inbox, List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MapIcm.encode(inbox, List.of(new IcmChunk(0, 0x200800, 1))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MapIcm.encode(inbox, List.of(new IcmChunk(0, 0x200000, 0x1000))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MapIcm.size(257)).isInstanceOf(IllegalArgumentException.class);
    assertThat(MapIcm.size(256)).isEqualTo(4096);
  }
}

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.abi.FieldRow.row;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-17 to 3-2-19, 3-2-22 and 3-2-23: MPT and MTT. */
class TranslationTablesTest {
  private static final String ALL32 = "ffffffff";
  private static final String ALL64 = "ffffffffffffffff";

  static List<FieldRow> table3217() {
    return List.of(
        row("flags", Mpt.FLAGS, 0x00, ALL32, "a1b2c3d4", 0xa1b2c3d4L),
        row("page_size", Mpt.PAGE_SIZE, 0x04, ALL32, "04030201", 0x04030201L),
        row("key", Mpt.KEY, 0x08, ALL32, "abc08033", 0xabc08033L),
        row("pd", Mpt.PD, 0x0c, ALL32, "00000fed", 0xfed),
        row("start", Mpt.START, 0x10, ALL64, "00007f1234567000", 0x7f1234567000L),
        row("length", Mpt.LENGTH, 0x18, ALL64, "0000000123456789", 0x123456789L),
        row("lkey", Mpt.LKEY, 0x20, ALL32, "20212223", 0x20212223L),
        row("window_count", Mpt.WINDOW_COUNT, 0x24, ALL32, "24252627", 0x24252627L),
        row("window_count_limit", Mpt.WINDOW_COUNT_LIMIT, 0x28, ALL32, "28292a2b", 0x28292a2bL),
        row("mtt_seg", Mpt.MTT_SEGMENT, 0x2c, ALL64, "2c2d2e2f30313233", 0x2c2d2e2f30313233L),
        row("mtt_sz", Mpt.MTT_SIZE, 0x34, ALL32, "34353637", 0x34353637L));
  }

  @ParameterizedTest
  @MethodSource("table3217")
  void mptFieldIsAtItsPlaceInTable3217(FieldRow row) {
    row.check(64);
  }

  @Test
  void mptHasExactlyTheFieldsOfTable3217() {
    FieldRow.checkComplete(Mpt.LAYOUT, 64, table3217());
  }

  @Test
  void mptIsWrittenAndReadAsAWhole() {
    String literal =
        Bytes.hex(
            "f0020107 00000000 80000021 00000003",
            "00007e00 00001000 00000002 00003000",
            "00000011 00000012 00000013 00000000",
            "000001ff 00000014 00000000 00000000");
    Mpt entry =
        new Mpt(
            0xf0020107,
            0,
            0x80000021,
            3,
            0x7e0000001000L,
            0x200003000L,
            0x11,
            0x12,
            0x13,
            0x1ff,
            0x14);

    MemorySegment inbox = Bytes.filled(72, 0xff);
    entry.encode(inbox);

    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(Mpt.decode(Bytes.of(literal))).isEqualTo(entry);
  }

  @Test
  void flagsMatchTheBitsOfTable3219() {
    assertThat(MptFlags.LOCAL_WRITE).isEqualTo(0x0000_0001);
    assertThat(MptFlags.REMOTE_WRITE).isEqualTo(0x0000_0002);
    assertThat(MptFlags.REMOTE_READ).isEqualTo(0x0000_0004);
    assertThat(MptFlags.REMOTE_ATOMIC).isEqualTo(0x0000_0008);
    assertThat(MptFlags.MW_BIND).isEqualTo(0x0000_0010);
    assertThat(MptFlags.ZERO_BASED).isEqualTo(0x0000_0020);
    assertThat(MptFlags.ON_DEMAND).isEqualTo(0x0000_0040);
    assertThat(MptFlags.REGION).isEqualTo(0x0000_0100);
    assertThat(MptFlags.PHYSICAL).isEqualTo(0x0000_0200);
    assertThat(MptFlags.BIND_ENABLE).isEqualTo(0x0000_8000);
    assertThat(MptFlags.MIO).isEqualTo(0x0002_0000);
    assertThat(MptFlags.SW_OWNS).isEqualTo(0xf000_0000);
  }

  private static final long[] PAGES = {
    0x1010101010101000L, 0x2020202020202000L, 0x3030303030303000L, 0x4040404040404000L,
    0x5050505050505000L, 0x6060606060606000L, 0x7070707070707000L, 0x8080808080808000L,
    0x9090909090909000L,
  };

  private static final String HEADER =
      Bytes.hex("00000000 00000000 00000000 00000000", "00000000 00000000 01020304 05060708");

  @ParameterizedTest
  @CsvSource({
    // entries, then groups of four page addresses as they are in memory
    "1, 0000000000000000 0000000000000000 0000000000000000 1010101010101000",
    "2, 0000000000000000 0000000000000000 2020202020202000 1010101010101000",
    "3, 0000000000000000 3030303030303000 2020202020202000 1010101010101000",
    "4, 4040404040404000 3030303030303000 2020202020202000 1010101010101000",
    "5, 4040404040404000 3030303030303000 2020202020202000 1010101010101000"
        + " 0000000000000000 0000000000000000 0000000000000000 5050505050505000",
    "8, 4040404040404000 3030303030303000 2020202020202000 1010101010101000"
        + " 8080808080808000 7070707070707000 6060606060606000 5050505050505000",
    "9, 4040404040404000 3030303030303000 2020202020202000 1010101010101000"
        + " 8080808080808000 7070707070707000 6060606060606000 5050505050505000"
        + " 0000000000000000 0000000000000000 0000000000000000 9090909090909000",
  })
  void firstPageOfAGroupOfFourIsLast(int count, String groups) {
    String literal = HEADER + Bytes.hex(groups);
    int size = literal.length() / 2;
    long[] pages = Arrays.copyOf(PAGES, count);

    MemorySegment inbox = Bytes.filled(size + 8, 0xff);
    WriteMtt.encode(inbox, 0x0102030405060708L, pages);

    assertThat(WriteMtt.size(count)).isEqualTo(size);
    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));

    MemorySegment read = Bytes.of(literal);
    assertThat(WriteMtt.startIndex(read)).isEqualTo(0x0102030405060708L);
    for (int i = 0; i < count; i++) {
      assertThat(WriteMtt.page(read, i)).as("entry %d", i).isEqualTo(PAGES[i]);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0x38",
    "1, 0x30",
    "2, 0x28",
    "3, 0x20",
    "4, 0x58",
    "7, 0x40",
    "252, 0x818",
    "254, 0x808"
  })
  void pagesAreAtTheOffsetsOfTheirGroups(int index, String offset) {
    assertThat(WriteMtt.offset(index)).isEqualTo(Integer.decode(offset));
  }

  @Test
  void commandTakesAtMost255Entries() {
    assertThat(WriteMtt.MAX_ENTRIES).isEqualTo(255);
    assertThat(WriteMtt.size(255)).isEqualTo(2080);
    assertThatThrownBy(() -> WriteMtt.size(256)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> WriteMtt.size(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> WriteMtt.encode(Bytes.zeros(4096), 0, 256, i -> 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void startIndexIsTheOnlyFieldBeforeTheEntries() {
    FieldRow start =
        row(
            "mtt_start_index",
            WriteMtt.START_INDEX,
            0x18,
            ALL64,
            "0000000000001fff",
            0x0000000000001fffL);

    start.check(32);
    FieldRow.checkComplete(WriteMtt.HEADER, 32, List.of(start));
  }
}

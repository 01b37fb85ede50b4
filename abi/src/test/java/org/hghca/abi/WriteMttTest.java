package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WriteMttTest {
  private static final String START = "00".repeat(24);
  private static final String EMPTY = "0000000000000000";
  private static final String THREE_FROM_ONE =
      START
          + "0000000000000001"
          + EMPTY
          + "0000000000303000"
          + "0000000000302000"
          + "0000000000301000";

  static Stream<Arguments> commands() {
    return Stream.of(
        Arguments.of(
            0,
            new long[] {0x300000},
            START + "0000000000000000" + EMPTY + EMPTY + EMPTY + "0000000000300000"),
        Arguments.of(1, new long[] {0x301000, 0x302000, 0x303000}, THREE_FROM_ONE),
        Arguments.of(
            4,
            new long[] {0x304000, 0x305000, 0x306000, 0x307000},
            START
                + "0000000000000004"
                + "0000000000307000"
                + "0000000000306000"
                + "0000000000305000"
                + "0000000000304000"),
        Arguments.of(
            8,
            new long[] {0x308000, 0x309000, 0x30A000, 0x30B000, 0x30C000},
            START
                + "0000000000000008"
                + "000000000030b000"
                + "000000000030a000"
                + "0000000000309000"
                + "0000000000308000"
                + EMPTY
                + EMPTY
                + EMPTY
                + "000000000030c000"));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void lastEntryOfAGroupOfFourIsFirst(long start, long[] pages, String bytes) {
    MemorySegment mailbox = Mailboxes.used(4096);
    WriteMtt.encode(mailbox, start, pages);

    int size = bytes.length() / 2;
    assertThat(WriteMtt.size(pages.length)).isEqualTo(size);
    assertThat(Mailboxes.hex(mailbox, size)).isEqualTo(bytes);
    assertThat(Mailboxes.hex(mailbox.asSlice(size, 4))).isEqualTo("a5a5a5a5");

    MemorySegment given = Mailboxes.of(bytes);
    assertThat(WriteMtt.startIndex(given)).isEqualTo(start);
    for (int i = 0; i < pages.length; i++) {
      assertThat(WriteMtt.page(given, i)).isEqualTo(pages[i]);
    }
  }

  @Test
  void everyCountSurvivesEncodeAndDecode() {
    Random random = new Random(11);
    for (int count = 1; count <= 255; count++) {
      long[] pages = random.longs(count).toArray();
      long start = random.nextLong();
      MemorySegment mailbox = Mailboxes.used(4096);
      WriteMtt.encode(mailbox, start, count, i -> pages[(int) i]);
      assertThat(WriteMtt.startIndex(mailbox)).isEqualTo(start);
      for (int i = 0; i < count; i++) {
        assertThat(WriteMtt.page(mailbox, i)).isEqualTo(pages[i]);
      }
    }
  }

  @Test
  void sizeIsAWholeNumberOfGroups() {
    assertThat(WriteMtt.size(1)).isEqualTo(64);
    assertThat(WriteMtt.size(4)).isEqualTo(64);
    assertThat(WriteMtt.size(5)).isEqualTo(96);
    assertThat(WriteMtt.size(252)).isEqualTo(2048);
    assertThat(WriteMtt.size(253)).isEqualTo(2080);
    assertThat(WriteMtt.size(255)).isEqualTo(2080);
  }

  @Test
  void countThatHangsTheRtlIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> WriteMtt.size(0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> WriteMtt.encode(Mailboxes.used(4096), 0, 256, i -> i << 12))
        .withMessage("WRITE_MTT takes 1 to 255 entries, not 256");
  }

  @Test
  void describeListsEntriesInTheirOrder() {
    assertThat(WriteMtt.describe(Mailboxes.of(THREE_FROM_ONE), 3))
        .isEqualTo("mtt_start_index=0x1 [0x301000 0x302000 0x303000]");
  }
}

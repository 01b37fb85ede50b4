package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MapIcmTest {
  private static final String ONE =
      "00000000000000000000000000000000 00000000100000000000000000200004";
  private static final String TWO =
      "00000000106000000000000000220001 00000000104000000000000000210002";
  private static final String THREE =
      "00000000100050000000000000240002 00000001000400000000000000230001"
          + "00000000000000000000000000000000 00000000100070000000000000250001";

  static Stream<Arguments> commands() {
    return Stream.of(
        Arguments.of(List.of(new IcmChunk(0x10000000L, 0x200000L, 4)), ONE),
        Arguments.of(
            List.of(
                new IcmChunk(0x10400000L, 0x210000L, 2), new IcmChunk(0x10600000L, 0x220000L, 1)),
            TWO),
        Arguments.of(
            List.of(
                new IcmChunk(0x1_00040000L, 0x230000L, 1),
                new IcmChunk(0x10005000L, 0x240000L, 2),
                new IcmChunk(0x10007000L, 0x250000L, 1)),
            THREE));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void laterEntryOfAPairIsFirst(List<IcmChunk> chunks, String bytes) {
    MemorySegment mailbox = Mailboxes.used(4096);
    MapIcm.encode(mailbox, chunks);

    String expected = bytes.replace(" ", "");
    int size = expected.length() / 2;
    assertThat(MapIcm.size(chunks.size())).isEqualTo(size);
    assertThat(Mailboxes.hex(mailbox, size)).isEqualTo(expected);
    assertThat(Mailboxes.hex(mailbox.asSlice(size, 4))).isEqualTo("a5a5a5a5");
    assertThat(MapIcm.decode(Mailboxes.of(bytes), chunks.size())).isEqualTo(chunks);
  }

  @Test
  void everyCountSurvivesEncodeAndDecode() {
    Random random = new Random(7);
    for (int count = 1; count <= 256; count++) {
      List<IcmChunk> chunks =
          IntStream.range(0, count)
              .mapToObj(
                  i ->
                      new IcmChunk(
                          random.nextLong(), random.nextLong() & -4096, random.nextInt(1, 4096)))
              .toList();
      MemorySegment mailbox = Mailboxes.used(4096);
      MapIcm.encode(mailbox, chunks);
      assertThat(MapIcm.decode(mailbox, count)).isEqualTo(chunks);
    }
  }

  @Test
  void sizeIsAWholeNumberOfPairs() {
    assertThat(MapIcm.size(1)).isEqualTo(32);
    assertThat(MapIcm.size(2)).isEqualTo(32);
    assertThat(MapIcm.size(3)).isEqualTo(64);
    assertThat(MapIcm.size(7)).isEqualTo(128);
    assertThat(MapIcm.size(256)).isEqualTo(4096);
    assertThat(MapIcm.PAGE_SIZE).isEqualTo(4096);
  }

  @Test
  void countOutsideTheMailboxIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> MapIcm.size(0));
    assertThatIllegalArgumentException().isThrownBy(() -> MapIcm.size(-1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MapIcm.decode(Mailboxes.used(8192), 257))
        .withMessage("MAP_ICM takes 1 to 256 entries, not 257");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MapIcm.encode(Mailboxes.used(32), List.of()));
  }

  @Test
  void pageThatIsNotAlignedOrTooManyPagesAreRefused() {
    MemorySegment mailbox = Mailboxes.used(32);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MapIcm.encode(mailbox, List.of(new IcmChunk(0x1000, 0x2800, 1))))
        .withMessageContaining("page 08h[63:12]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MapIcm.encode(mailbox, List.of(new IcmChunk(0x1000, 0x2000, 4096))))
        .withMessageContaining("page_num");
  }

  @Test
  void describeListsEntriesInTheirOrder() {
    assertThat(MapIcm.describe(Mailboxes.of(TWO), 2))
        .isEqualTo(
            "[virt=0x10400000 page=0x210000 page_num=0x2]"
                + " [virt=0x10600000 page=0x220000 page_num=0x1]");
  }
}

package org.hghca.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BusAddressesTest {
  private static final long SHIFT = 0x7000_0000_0000L;

  private static void translate(HcrCommand command, int entries, MemorySegment inbox) {
    BusAddresses.translate(command, entries, inbox, (iova, pages) -> iova + SHIFT + pages * 4096L);
  }

  private static MemorySegment inbox() {
    byte[] bytes = new byte[4096];
    new Random(1).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  @Test
  void pagesOfIcmAreTranslatedAndTheirAddressesInIcmAreNot() {
    MemorySegment inbox = inbox();
    List<IcmChunk> chunks =
        List.of(
            new IcmChunk(0x1000, 0xa000, 1),
            new IcmChunk(0x5000, 0x1_2345_6000L, 3),
            new IcmChunk(0xa000, 0xb000, 2));
    MapIcm.encode(inbox, chunks);

    translate(HcrCommand.MAP_ICM, 3, inbox);

    assertThat(MapIcm.decode(inbox, 3))
        .containsExactly(
            new IcmChunk(0x1000, 0xb000 + SHIFT, 1),
            new IcmChunk(0x5000, 0x1_2345_9000L + SHIFT, 3),
            new IcmChunk(0xa000, 0xd000 + SHIFT, 2));
  }

  @Test
  void pagesOfTheTranslationTableAreTranslatedAndTheirIndexIsNot() {
    MemorySegment inbox = inbox();
    WriteMtt.encode(inbox, 0x3000, 0x3000, 0x4000, 0x5000, 0x6000, 0x1_0000_7000L);

    translate(HcrCommand.WRITE_MTT, 5, inbox);

    MemorySegment expected = inbox();
    WriteMtt.encode(
        expected,
        0x3000,
        0x4000 + SHIFT,
        0x5000 + SHIFT,
        0x6000 + SHIFT,
        0x7000 + SHIFT,
        0x1_0000_8000L + SHIFT);
    assertThat(inbox.toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"MAP_ICM", "WRITE_MTT"})
  void otherInboxesStayAsTheyAre(HcrCommand command) {
    MemorySegment inbox = inbox();
    Mpt.FLAGS.set(inbox, MptFlags.MIO | MptFlags.REGION);
    byte[] before = inbox.toArray(ValueLayout.JAVA_BYTE);

    translate(command, 3, inbox);

    assertThat(inbox.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
  }

  @Test
  void regionOfBusAddressesIsRefused() {
    MemorySegment inbox = inbox();
    Mpt.FLAGS.set(inbox, MptFlags.REGION | MptFlags.PHYSICAL);

    assertThatThrownBy(() -> translate(HcrCommand.SW2HW_MPT, 9, inbox))
        .isInstanceOf(UnplayableException.class)
        .hasMessageStartingWith("MPT 9 is a region of bus addresses");
  }
}

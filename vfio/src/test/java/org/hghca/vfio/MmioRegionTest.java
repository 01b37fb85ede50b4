package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MmioRegionTest {

  /** Records every access, and answers reads with all ones. */
  private static final class Recorder implements MmioHandler {
    final List<String> accesses = new ArrayList<>();

    @Override
    public long read(long offset, int width) {
      accesses.add("read %d at 0x%x".formatted(width, offset));
      return -1;
    }

    @Override
    public void write(long offset, int width, long value) {
      accesses.add("write %d at 0x%x: 0x%x".formatted(width, offset, value));
    }
  }

  @Nested
  class Mapped {
    private final MemorySegment memory = Arena.ofAuto().allocate(64, 8);
    private final MmioRegion region = MmioRegion.mapped(memory);

    @Test
    void addressIsThatOfTheMemory() {
      assertThat(region.address(56)).isEqualTo(memory.address() + 56);
      assertThatThrownBy(() -> region.address(64)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> region.address(4)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void fileThatMayBeTruncatedHasNoAddress() {
      MmioRegion file =
          MmioRegion.mapped(memory, e -> new VfioException(VfioException.Reason.CLOSED, "gone"));

      assertThat(file.address(0)).isZero();
    }

    @Test
    void sizeIsThatOfTheMemory() {
      assertThat(region.size()).isEqualTo(64);
      assertThat(region.isMapped()).isTrue();
    }

    @Test
    void bytesChangeNothingElse() {
      memory.fill((byte) 0xee);

      region.writeByte(9, 0x1fd);

      assertThat(memory.asSlice(8, 4).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(0xee, 0xfd, 0xee, 0xee);
      assertThat(region.readByte(9)).isEqualTo(0xfd);
    }

    @Test
    void shortsAreLittleEndianAndChangeNothingElse() {
      memory.fill((byte) 0xee);

      region.writeShort(10, 0x1_f102);

      assertThat(memory.asSlice(8, 6).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(0xee, 0xee, 0x02, 0xf1, 0xee, 0xee);
      assertThat(region.readShort(10)).isEqualTo(0xf102);
    }

    @Test
    void accessOfAnyWidthIsThatOfItsType() {
      memory.fill((byte) 0xee);

      region.write(0, 1, 0x1122_3344_5566_7788L);
      region.write(2, 2, 0x1122_3344_5566_7788L);
      region.write(4, 4, 0x1122_3344_5566_7788L);
      region.write(8, 8, 0x1122_3344_5566_7788L);

      assertThat(memory.asSlice(0, 17).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(
              0x88, 0xee, 0x88, 0x77, 0x88, 0x77, 0x66, 0x55, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
              0x22, 0x11, 0xee);
      assertThat(region.read(0, 1)).isEqualTo(0x88);
      assertThat(region.read(2, 2)).isEqualTo(0x7788);
      memory.set(ValueLayout.JAVA_BYTE, 7, (byte) 0x80);
      assertThat(region.read(4, 4)).isEqualTo(0x8066_7788L);
      assertThat(region.read(8, 8)).isEqualTo(0x1122_3344_5566_7788L);
    }

    @Test
    void otherWidthsAreRefused() {
      assertThatThrownBy(() -> region.read(0, 3)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> region.write(0, 16, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void intsAreLittleEndianAndChangeNothingElse() {
      memory.fill((byte) 0xee);

      region.writeInt(8, 0x0102_0304);

      assertThat(memory.asSlice(4, 12).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(0xee, 0xee, 0xee, 0xee, 4, 3, 2, 1, 0xee, 0xee, 0xee, 0xee);
      assertThat(region.readInt(8)).isEqualTo(0x0102_0304);
    }

    @Test
    void longsAreLittleEndianAndChangeNothingElse() {
      memory.fill((byte) 0xee);

      region.writeLong(8, 0x0102_0304_0506_0708L);

      assertThat(memory.asSlice(7, 10).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(0xee, 8, 7, 6, 5, 4, 3, 2, 1, 0xee);
      assertThat(region.readLong(8)).isEqualTo(0x0102_0304_0506_0708L);
    }

    @Test
    void lastRegisterIsAccessible() {
      region.writeByte(63, 0x7f);
      assertThat(region.readShort(62)).isEqualTo(0x7f00);

      region.writeInt(60, 7);
      region.writeLong(56, -1);

      assertThat(region.readInt(60)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 64, 0x1_0000_0000L})
    void accessBeyondTheEndIsRefused(long offset) {
      assertRefused(region, offset, IndexOutOfBoundsException.class);
    }

    @Test
    void shortOnAByteBoundaryIsMisaligned() {
      assertThatThrownBy(() -> region.readShort(5)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> region.writeShort(7, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, -2, 64, 0x1_0000_0000L})
    void narrowAccessBeyondTheEndIsRefused(long offset) {
      assertNarrowRefused(region, offset);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 5})
    void misalignedAccessIsRefused(long offset) {
      assertRefused(region, offset, IllegalArgumentException.class);
    }
  }

  @Nested
  class Trapped {
    private final Recorder handler = new Recorder();
    private final MmioRegion region = MmioRegion.trapped(0x1_0000_0010L, handler);

    @Test
    void sizeIsAsGiven() {
      assertThat(region.size()).isEqualTo(0x1_0000_0010L);
      assertThat(region.isMapped()).isFalse();
    }

    @Test
    void everyCallIsOneAccessOfItsWidth() {
      region.writeInt(0x18, 0x8000_0001);
      region.writeLong(0x10, 0x8000_0000_0000_0001L);
      assertThat(region.readInt(4)).isEqualTo(-1);
      assertThat(region.readLong(0x1_0000_0008L)).isEqualTo(-1);
      region.writeByte(0x15, -2);
      region.writeShort(0x16, -2);
      assertThat(region.readByte(0x1_0000_000fL)).isEqualTo(0xff);
      assertThat(region.readShort(0x1_0000_000eL)).isEqualTo(0xffff);

      assertThat(handler.accesses)
          .containsExactly(
              "write 4 at 0x18: 0x80000001",
              "write 8 at 0x10: 0x8000000000000001",
              "read 4 at 0x4",
              "read 8 at 0x100000008",
              "write 1 at 0x15: 0xfe",
              "write 2 at 0x16: 0xfffe",
              "read 1 at 0x10000000f",
              "read 2 at 0x10000000e");
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 0x1_0000_0010L, 0x2_0000_0000L})
    void accessBeyondTheEndIsRefusedAndReachesNoDevice(long offset) {
      assertRefused(region, offset, IndexOutOfBoundsException.class);
      assertThat(handler.accesses).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, -2, 0x1_0000_0010L, 0x2_0000_0000L})
    void narrowAccessBeyondTheEndIsRefusedAndReachesNoDevice(long offset) {
      assertNarrowRefused(region, offset);
      assertThat(handler.accesses).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 5})
    void misalignedAccessIsRefusedAndReachesNoDevice(long offset) {
      assertRefused(region, offset, IllegalArgumentException.class);
      assertThat(handler.accesses).isEmpty();
    }

    @Test
    void shortOnAByteBoundaryIsMisaligned() {
      assertThatThrownBy(() -> region.readShort(5))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("2 bytes", "0x5");
      assertThatThrownBy(() -> region.writeShort(7, 1))
          .isInstanceOf(IllegalArgumentException.class);
      region.readByte(5);
      assertThat(handler.accesses).containsExactly("read 1 at 0x5");
    }

    @Test
    void fourBytesSufficeForAnIntOnly() {
      MmioRegion small = MmioRegion.trapped(4, handler);

      small.readInt(0);

      assertThatThrownBy(() -> small.readLong(0)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(handler.accesses).containsExactly("read 4 at 0x0");
    }

    @Test
    void longOnAnIntBoundaryIsMisaligned() {
      assertThatThrownBy(() -> region.writeLong(4, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("8 bytes", "0x4");
      assertThat(handler.accesses).isEmpty();
    }
  }

  /** Both kinds of region refuse the same accesses. */
  private static void assertRefused(
      MmioRegion region, long offset, Class<? extends RuntimeException> how) {
    assertThatThrownBy(() -> region.readInt(offset)).isInstanceOf(how);
    assertThatThrownBy(() -> region.readLong(offset)).isInstanceOf(how);
    assertThatThrownBy(() -> region.writeInt(offset, 1)).isInstanceOf(how);
    assertThatThrownBy(() -> region.writeLong(offset, 1)).isInstanceOf(how);
  }

  private static void assertNarrowRefused(MmioRegion region, long offset) {
    Class<? extends RuntimeException> how = IndexOutOfBoundsException.class;
    assertThatThrownBy(() -> region.readByte(offset)).isInstanceOf(how);
    assertThatThrownBy(() -> region.readShort(offset)).isInstanceOf(how);
    assertThatThrownBy(() -> region.writeByte(offset, 1)).isInstanceOf(how);
    assertThatThrownBy(() -> region.writeShort(offset, 1)).isInstanceOf(how);
  }
}

package org.hghca.vfio.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The host's view of a device: registers, configuration space, reset and close. */
class InProcessFunctionTest {
  private static final Locator LOCATOR = Locator.parse("fake:f0");

  private final FakeDevice device = new FakeDevice();
  private final InProcessFunction function = InProcessFunction.connect(LOCATOR, device);

  @AfterEach
  void close() {
    function.close();
  }

  @Test
  void connectingAttachesTheDevice() {
    assertThat(device.calls).containsExactly("attach");
    assertThat(function.locator()).isEqualTo(LOCATOR);
    assertThat(function.mappings()).isZero();
    assertThat(function.dmaFaults()).isEmpty();
  }

  @Test
  void memoryOfThisProcessIsNotWaitedFor() {
    assertThat(device.bus().mayWait()).isFalse();
  }

  @Test
  void registerAccessReachesTheDeviceOnceWithBarOffsetAndWidth() {
    MmioRegion bar0 = function.region(0);
    MmioRegion bar2 = function.region(2);

    bar0.writeInt(0x98, 0x8000_0000);
    bar2.writeLong(0xfff8, 0x8000_0000_0000_0001L);
    assertThat(bar0.readInt(0xffc)).isEqualTo(0x1122_3344);
    assertThat(bar2.readLong(0)).isEqualTo(0x1122_3344_5566_7788L);
    bar0.writeByte(0x14, 0x1ff);
    bar0.writeShort(0x16, 0x1_ffff);
    assertThat(bar0.readByte(0x15)).isEqualTo(0x11);
    assertThat(bar0.readShort(0x18)).isEqualTo(0x1122);

    assertThat(device.calls)
        .containsExactly(
            "attach",
            "write BAR0 0x98 4 0x80000000",
            "write BAR2 0xfff8 8 0x8000000000000001",
            "read BAR0 0xffc 4",
            "read BAR2 0x0 8",
            "write BAR0 0x14 1 0xff",
            "write BAR0 0x16 2 0xffff",
            "read BAR0 0x15 1",
            "read BAR0 0x18 2");
    assertThat(bar0.size()).isEqualTo(0x1000);
    assertThat(bar2.size()).isEqualTo(0x1_0000);
  }

  @Test
  void accessBeyondTheBarIsRefused() {
    MmioRegion bar0 = function.region(0);

    assertThatThrownBy(() -> bar0.readInt(0x1000)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(device.calls).containsExactly("attach");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1, 5, 6, Integer.MAX_VALUE})
  void missingBarIsNamed(int bar) {
    assertReason(Reason.INVALID, () -> function.region(bar))
        .hasMessageContainingAll("fake:f0", "BAR" + bar);
  }

  @Test
  void identityIsReadFromConfigurationSpace() {
    device.configuration[0] = (byte) 0x34;
    device.configuration[1] = (byte) 0xf2;
    device.configuration[2] = (byte) 0x78;
    device.configuration[3] = (byte) 0x96;
    device.configuration[8] = (byte) 0x81;

    assertThat(function.configuration().vendorId()).isEqualTo(0xf234);
    assertThat(function.configuration().deviceId()).isEqualTo(0x9678);
    assertThat(function.configuration().revisionId()).isEqualTo(0x81);
  }

  @Test
  void busMasterChangesOnlyItsBit() {
    device.configuration[4] = 0x03;
    device.configuration[5] = 0x04;

    function.configuration().busMaster(true);
    assertThat(device.configuration[4]).isEqualTo((byte) 0x07);
    function.configuration().busMaster(false);

    assertThat(device.configuration[4]).isEqualTo((byte) 0x03);
    assertThat(device.configuration[5]).isEqualTo((byte) 0x04);
    assertThat(device.calls)
        .containsExactly(
            "attach", "write configuration 0x4 2 0x407", "write configuration 0x4 2 0x403");
  }

  @Test
  void lastBytesOfConfigurationSpaceAreAccessible() {
    function.configuration().write(4095, 1, 0xab);
    assertThat(function.configuration().read(4094, 2)).isEqualTo(0xab00);
    assertThat(function.configuration().read(4092, 4)).isEqualTo(0xab00_0000);
  }

  @ParameterizedTest
  @CsvSource({"-4,4", "4096,1", "4095,2", "4094,4", "1,2", "2,4", "0,0", "0,3", "0,8", "4,-4"})
  void configurationAccessOutsideOrMisalignedIsRefused(int offset, int width) {
    assertThatThrownBy(() -> function.configuration().read(offset, width))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> function.configuration().write(offset, width, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void resetReachesTheDeviceAndKeepsMappings() {
    DmaMapping mapping = function.allocate(4096);

    function.reset();

    assertThat(function.canReset()).isTrue();
    assertThat(device.calls).containsExactly("attach", "reset");
    assertThat(device.dmaWrite(mapping.iova(0), 1)).isTrue();
  }

  @Test
  void functionWithoutResetReportsIt() {
    device.canReset = false;

    assertThat(function.canReset()).isFalse();
    assertReason(Reason.UNSUPPORTED, function::reset).hasMessageContaining("fake:f0");
    assertThat(device.calls).containsExactly("attach");
  }

  @Test
  void closingClosesTheDeviceOnce() {
    function.close();
    function.close();

    assertThat(device.calls).containsExactly("attach", "close");
  }

  @Test
  void closingUnmapsEverything() {
    DmaMapping allocated = function.allocate(4096);
    MemorySegment memory = Arena.ofAuto().allocate(4096);
    DmaMapping mapped = function.map(memory, DmaAccess.READ_WRITE);
    assertThat(function.mappings()).isEqualTo(2);

    function.close();

    assertThat(function.mappings()).isZero();
    assertThat(device.dmaWrite(allocated.iova(0), 1)).isFalse();
    assertThat(device.dmaWrite(mapped.iova(0), 1)).isFalse();
    assertThat(allocated.segment().scope().isAlive()).isFalse();
    assertThat(memory.scope().isAlive()).isTrue();
  }

  @Test
  void mappingsMayBeClosedAfterTheFunction() {
    DmaMapping allocated = function.allocate(4096);
    DmaMapping mapped = function.map(Arena.ofAuto().allocate(8), DmaAccess.READ);
    function.close();

    assertThatCode(allocated::close).doesNotThrowAnyException();
    assertThatCode(mapped::close).doesNotThrowAnyException();
  }

  @Test
  void closedFunctionRefusesEverythingThatNeedsTheDevice() {
    ConfigurationSpace configuration = function.configuration();
    MemorySegment memory = Arena.ofAuto().allocate(4096);
    function.close();

    List<ThrowingCallable> calls =
        List.of(
            () -> function.allocate(1),
            () -> function.map(memory, DmaAccess.READ),
            function::configuration,
            () -> configuration.read(0, 4),
            () -> configuration.write(4, 2, 0),
            () -> function.region(0),
            function::interrupts,
            function::reset);
    for (ThrowingCallable call : calls) {
      assertReason(Reason.CLOSED, call).hasMessage("fake:f0 is closed");
    }
    assertThat(device.calls).containsExactly("attach", "close");
    assertThat(function.mappings()).isZero();
  }

  @Test
  void faultsAreReadableAfterTheClose() {
    device.dmaWrite(0x5000, 1);
    function.close();

    assertThat(function.dmaFaults()).containsExactly(new DmaFault(0x5000, 1, true, "not mapped"));
    assertThat(function.locator()).isEqualTo(LOCATOR);
  }
}

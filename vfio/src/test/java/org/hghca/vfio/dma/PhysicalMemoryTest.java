package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.MemoryFile;
import org.hghca.vfio.linux.TamperedCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a sparse file instead of the process's page map. */
class PhysicalMemoryTest {
  private static final long PAGE = 4096;
  private static final long PRESENT = 1L << 63;

  @TempDir private Path directory;
  private final TamperedCalls linux = new TamperedCalls();
  private final List<String> locks = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = new MemoryFile(linux.calls).allocate(arena, 4 * PAGE);
  private Path pagemap;
  private PhysicalMemory space;
  private DeviceMemory device;

  @BeforeEach
  void makePageMap() throws IOException {
    linux.answer(
        "mlock",
        arguments -> {
          locks.add("0x%x %d".formatted(arguments));
          return 0;
        });
    pagemap = directory.resolve("pagemap");
    space = new PhysicalMemory(linux.calls, pagemap);
    device = new DeviceMemory(Locator.parse("fake:f0"), space, new MemoryFile(linux.calls));
    // Bits beside the frame number have other meanings: soft-dirty (55), file-mapped (61).
    entries(
        PRESENT | 1L << 61 | 0x12_3456,
        PRESENT | 1L << 55 | 0x77,
        PRESENT | 0x12_3457,
        PRESENT | (1L << 40) - 1);
  }

  @AfterEach
  void close() {
    device.close();
    arena.close();
  }

  /** Writes the entries of the memory's pages. */
  private void entries(long... entries) throws IOException {
    try (FileChannel file =
        FileChannel.open(pagemap, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.allocate(8 * entries.length).order(ByteOrder.LITTLE_ENDIAN);
      buffer.asLongBuffer().put(entries);
      file.write(buffer, memory.address() / PAGE * 8);
    }
  }

  private void assertRefused(MemorySegment segment, Reason reason, String... message) {
    assertReason(reason, () -> device.map(segment, DmaAccess.READ_WRITE))
        .hasMessageContainingAll(message);
    assertThat(device.mappings()).isZero();
  }

  @Test
  void eachPageHasItsPhysicalAddress() {
    DmaMapping mapping = device.map(memory.asSlice(0x800), DmaAccess.READ_WRITE);

    assertThat(mapping.iova(0)).isEqualTo(0x1_2345_6800L);
    assertThat(mapping.iova(0x7ff)).isEqualTo(0x1_2345_6fffL);
    assertThat(mapping.iova(0x800)).isEqualTo(0x7_7000);
    assertThat(mapping.iova(0x1800)).isEqualTo(0x1_2345_7000L);
    assertThat(mapping.iova(0x37ff)).isEqualTo((1L << 52) - 1);
    assertThat(mapping.segment().byteSize()).isEqualTo(0x3800);
  }

  @Test
  void pagesAreLockedBeforeTheirAddressIsRead() {
    device.map(memory.asSlice(PAGE + 1, PAGE), DmaAccess.READ).close();

    assertThat(locks).containsExactly("0x%x %d".formatted(memory.address() + PAGE, 2 * PAGE));
    linux.fail("mlock", LinuxErrno.ENOMEM);
    assertRefused(memory, Reason.NO_MEMORY, "16384 bytes", "ENOMEM", "ulimit -l");
  }

  @Test
  void onlyMemoryOfTheBackendsOwnFilesIsAccepted() {
    assertRefused(arena.allocate(64), Reason.INVALID, "allocated for it");
    assertThat(locks).isEmpty();
  }

  @Test
  void hiddenAddressesAreAMissingPermission() throws IOException {
    entries(PRESENT | 1L << 61);

    assertRefused(memory, Reason.NO_PERMISSION, "root", "CAP_SYS_ADMIN");
  }

  @Test
  void absentOrTooLowPageIsNotUsed() throws IOException {
    entries(PRESENT | 0x1234, 0x1234);
    assertRefused(memory, Reason.NO_MEMORY, "not present");
    entries(PRESENT | 0x1234, PRESENT | 0xf);
    assertRefused(memory, Reason.NO_MEMORY, "0xf000");
    entries(PRESENT | 0x10, PRESENT | 0x11);
    assertThat(device.map(memory, DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
  }

  @Test
  void missingPageMapFails() {
    space = new PhysicalMemory(linux.calls, directory.resolve("nowhere"));
    device.close();
    device = new DeviceMemory(Locator.parse("fake:f0"), space, new MemoryFile(linux.calls));

    assertRefused(memory, Reason.NO_PERMISSION, "nowhere", "root");
  }

  @Test
  void shortPageMapFails() throws IOException {
    try (FileChannel file = FileChannel.open(pagemap, StandardOpenOption.WRITE)) {
      file.truncate(memory.address() / PAGE * 8 + 12);
    }

    assertRefused(memory, Reason.NO_MEMORY, "not present");
  }

  /** With or without permission: the page map of the system itself. */
  @Test
  void systemReturnsAddressesOrNamesThePermission() {
    SystemCalls system = Linux.system();
    DeviceMemory real =
        new DeviceMemory(
            Locator.parse("fake:f1"), new PhysicalMemory(system), new MemoryFile(system));
    try (real;
        DmaMapping mapping = real.allocate(2 * PAGE)) {
      assertThat(mapping.iova(PAGE)).isGreaterThanOrEqualTo(0x1_0000);
      assertThat(mapping.iova(0) % PAGE).isZero();
      assertThat(mapping.iova(0)).isNotEqualTo(mapping.iova(PAGE));
    } catch (VfioException e) {
      assertThat(e.getMessage()).containsAnyOf("run as root", "as root (CAP", "ulimit -l");
    }
  }
}

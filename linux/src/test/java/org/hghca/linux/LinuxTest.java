package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls reach the kernel, and its results come back: errors as error numbers. */
final class LinuxTest {
  private static final int O_RDWR = 2;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;

  private final SystemCalls linux = Linux.system();

  @Test
  void errorIsANegativeNumber() {
    assertThat(LinuxErrno.ENOENT.is(linux.open("/nowhere/at/all", O_RDWR))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.close(-1))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.mmap(4096, PROT_READ_WRITE, MAP_SHARED, -1, 0))).isTrue();
    assertThat(LinuxErrno.describe(-16)).isEqualTo("EBUSY (16), busy");
    assertThat(LinuxErrno.describe(-9999)).isEqualTo("error 9999");
  }

  @Test
  void fileIsReadAndWrittenAtAnOffset(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("file");
    Files.writeString(file, "0123456789");
    int descriptor = linux.open(file.toString(), O_RDWR);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(4);
      assertThat(linux.pread(descriptor, buffer, 3)).isEqualTo(4);
      assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).containsExactly('3', '4', '5', '6');
      assertThat(linux.pwrite(descriptor, buffer, 0)).isEqualTo(4);
    } finally {
      assertThat(linux.close(descriptor)).isZero();
    }
    assertThat(Files.readString(file)).isEqualTo("3456456789");
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryOfAFileIsSharedByAllItsMappings() {
    int file = linux.memfdCreate("test", 0);
    assertThat(linux.ftruncate(file, 8192)).isZero();
    long one = linux.mmap(8192, PROT_READ_WRITE, MAP_SHARED, file, 0);
    long other = linux.mmap(4096, PROT_READ_WRITE, MAP_SHARED, file, 4096);
    assertThat(linux.close(file)).isZero();
    MemorySegment.ofAddress(one).reinterpret(8192).set(ValueLayout.JAVA_LONG, 4096, 0x1234);
    assertThat(MemorySegment.ofAddress(other).reinterpret(8).get(ValueLayout.JAVA_LONG, 0))
        .isEqualTo(0x1234);
    assertThat(linux.munmap(one, 8192)).isZero();
    assertThat(linux.munmap(other, 4096)).isZero();
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryThatTakesThePlaceOfAFileIsItsOwn() {
    int file = linux.memfdCreate("test", 0);
    assertThat(linux.ftruncate(file, 8192)).isZero();
    long both = linux.mmap(8192, PROT_READ_WRITE, MAP_SHARED, file, 0);
    MemorySegment memory = MemorySegment.ofAddress(both).reinterpret(8192);
    memory.fill((byte) 1);

    assertThat(linux.mmapInPlace(both, 4096, PROT_READ_WRITE)).isEqualTo(both);
    assertThat(linux.ftruncate(file, 4096)).isZero(); // it had been the first page
    assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isZero();
    memory.set(ValueLayout.JAVA_LONG, 0, 2);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment kept = arena.allocate(ValueLayout.JAVA_LONG);
      assertThat(linux.pread(file, kept, 0)).isEqualTo(8);
      assertThat(kept.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x0101_0101_0101_0101L);
    }
    assertThat(linux.munmap(both, 8192)).isZero();
    assertThat(linux.close(file)).isZero();
  }

  @Test
  void eventIsSignaledAndRead() {
    int event = linux.eventfd(5, 0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);
      assertThat(linux.read(event, count)).isEqualTo(8);
      assertThat(count.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
    } finally {
      assertThat(linux.close(event)).isZero();
    }
  }

  @Test
  void userIsThatOfTheProcess() throws IOException {
    Object owner = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    assertThat(linux.geteuid()).isEqualTo(owner);
  }
}

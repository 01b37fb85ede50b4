package org.hghca.vfio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessMemoryTest {
  /**
   * In the kernel's format: two adjacent areas, a file, one without permissions, one behind a hole.
   */
  private static final String MAPS =
      """
      00400000-00402000 r--p 00000000 fe:00 1234                       /usr/bin/java
      00402000-00404000 rw-p 00000000 00:00 0                          [heap]
      00404000-00405000 ---p 00000000 00:00 0
      7f0000000000-7f0000010000 rw-s 00000000 00:01 2051                /memfd:a - b-c (deleted)
      7f0000020000-7f0000021000 -w-p 00000000 00:00 0
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]
      """;

  private static void check(long start, long bytes, DmaAccess access) throws IOException {
    ProcessMemory.check(new BufferedReader(new StringReader(MAPS)), start, bytes, access);
  }

  @ParameterizedTest
  @CsvSource({
    "0x400000, 0x4000, READ",
    "0x401fff, 2, READ",
    "0x402000, 0x2000, READ_WRITE",
    "0x403fff, 1, READ_WRITE",
    "0x7f0000000000, 0x10000, READ_WRITE",
    "0x7f0000000001, 1, READ",
    "0x300000, 0, READ_WRITE"
  })
  void accessibleMemoryIsFound(String start, String bytes, DmaAccess access) throws IOException {
    check(Long.decode(start), Long.decode(bytes), access);
  }

  @ParameterizedTest
  @CsvSource({
    "0x3fffff, 1, READ, is not mapped at 0x3fffff",
    "0x3fffff, 2, READ, is not mapped at 0x3fffff",
    "0, 0x500000, READ, is not mapped at 0x0",
    "0x401fff, 2, READ_WRITE, may not be written at 0x401fff",
    "0x403fff, 2, READ, may not be read at 0x404000",
    "0x405000, 1, READ, is not mapped at 0x405000",
    "0x7f000000ffff, 2, READ_WRITE, is not mapped at 0x7f0000010000",
    "0x7f0000020000, 1, READ_WRITE, may not be read at 0x7f0000020000",
    "0x7f0000021000, 1, READ, is not mapped at 0x7f0000021000",
    "-4096, 1, READ, is not mapped at 0xfffffffffffff000",
    "-4096, 4096, READ, is not mapped at 0xfffffffffffff000",
    "0x400000, 0x7fffffffffffffff, READ, may not be read at 0x404000"
  })
  void inaccessibleMemoryIsNamedWithItsAddress(
      String start, String bytes, DmaAccess access, String words) {
    assertReason(Reason.BAD_ADDRESS, () -> check(Long.decode(start), Long.decode(bytes), access))
        .hasMessageContaining(words);
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryOfThisProcessIsFound() {
    try (Arena arena = Arena.ofConfined()) {
      ProcessMemory.check(arena.allocate(10), DmaAccess.READ_WRITE);
      ProcessMemory.check(arena.allocate(64 << 20, 4096), DmaAccess.READ_WRITE);
    }
    MemorySegment first = MemorySegment.ofAddress(1).reinterpret(1);
    assertThatThrownBy(() -> ProcessMemory.check(first, DmaAccess.READ))
        .isInstanceOf(VfioException.class);
  }

  @Test
  void interruptedThreadReadsTheMapsToo() {
    try (Arena arena = Arena.ofConfined()) {
      Thread.currentThread().interrupt();
      assertThatCode(() -> ProcessMemory.check(arena.allocate(10), DmaAccess.READ_WRITE))
          .doesNotThrowAnyException();
      assertThat(Thread.interrupted()).isTrue();
    }
  }
}

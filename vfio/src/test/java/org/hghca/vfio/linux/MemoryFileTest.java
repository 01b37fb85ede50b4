package org.hghca.vfio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.MemoryFile.FileRange;
import org.hghca.vfio.memory.BufferPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryFileTest {
  private static final int MFD_HUGETLB = 0x4;
  private static final int SEEK_END = 2;

  private final TamperedCalls tampered = new TamperedCalls();
  private final MemorySource files = new MemoryFile(tampered.calls);
  private final Arena arena = Arena.ofShared();

  @AfterEach
  void closeArena() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  private static FileRange fileOf(MemorySegment memory) {
    return MemoryFile.of(memory.address(), memory.byteSize()).orElseThrow();
  }

  private static Path link(FileRange range) {
    return Path.of("/proc/self/fd", Integer.toString(range.descriptor()));
  }

  private static byte byteAt(FileRange range, long offset) {
    try (Arena local = Arena.ofConfined()) {
      MemorySegment buffer = local.allocate(1);
      assertThat(Linux.system().pread(range.descriptor(), buffer, range.offset() + offset))
          .isEqualTo(1);
      return buffer.get(ValueLayout.JAVA_BYTE, 0);
    }
  }

  @Test
  void discardedPagesAreFreedAndReadAsZero() {
    MemorySegment memory = files.allocate(arena, 64 << 12);
    memory.fill((byte) 7);
    try (FileRange range = fileOf(memory)) {
      assertThat(files.discard(memory.asSlice(16 << 12, 32 << 12))).isTrue();
      for (int page = 0; page < 64; page++) {
        byte left = (byte) (page < 16 || page >= 48 ? 7 : 0);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, page * 4096L)).isEqualTo(left);
        assertThat(byteAt(range, page * 4096L + 4095)).isEqualTo(left);
      }
    }
    try (Arena other = Arena.ofConfined()) {
      assertThat(files.discard(other.allocate(4096, 4096))).as("memory of no file").isFalse();
    }
  }

  @Test
  void memoryIsZeroedPageAlignedAndForTheArenasThreads() {
    MemorySegment memory = files.allocate(arena, 12288);

    assertThat(memory.byteSize()).isEqualTo(12288);
    assertThat(memory.address() % 4096).isZero();
    assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertThat(memory.scope()).isEqualTo(arena.scope());
    assertThat(memory.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))).isTrue();
  }

  @Test
  void fileOfAnAddressHasTheMemorysBytes() throws IOException {
    MemorySegment memory = files.allocate(arena, 8192);
    memory.set(ValueLayout.JAVA_BYTE, 5000, (byte) 42);

    try (FileRange all = fileOf(memory);
        FileRange part = fileOf(memory.asSlice(4096, 4096))) {
      assertThat(all.offset()).isZero();
      assertThat(part.offset()).isEqualTo(4096);
      assertThat(part.descriptor()).isEqualTo(all.descriptor());
      assertThat(byteAt(part, 904)).isEqualTo((byte) 42);
      assertThat(Files.readSymbolicLink(link(all)).toString()).startsWith("/memfd:hghca");
    }
  }

  @Test
  void rangesAcrossPiecesHaveNoFile() {
    MemorySegment memory = files.allocate(arena, 8192);
    long address = memory.address();

    assertThat(MemoryFile.of(address - 1, 2)).isEmpty();
    assertThat(MemoryFile.of(address + 8191, 2)).isEmpty();
    assertThat(MemoryFile.of(address, 8193)).isEmpty();
    assertThat(MemoryFile.of(address, -1)).isEmpty();
    assertThat(MemoryFile.of(address, Long.MAX_VALUE)).isEmpty();
    assertThat(MemoryFile.of(0, 1)).isEmpty();
    assertThat(MemoryFile.of(arena.allocate(64).address(), 64)).isEmpty();
  }

  @Test
  void descriptorIsClosedOnExecAndTheSizeIsSealed() throws IOException {
    MemorySegment memory = files.allocate(arena, 4096);

    try (FileRange range = fileOf(memory)) {
      int descriptor = range.descriptor();
      String flags = Files.readString(Path.of("/proc/self/fdinfo/" + descriptor));
      assertThat(flags).containsPattern("flags:\\s+02\\d{6}\\s"); // O_CLOEXEC
      assertThat(LinuxErrno.EPERM.is(Linux.system().ftruncate(descriptor, 0))).isTrue();
      assertThat(LinuxErrno.EPERM.is(Linux.system().ftruncate(descriptor, 8192))).isTrue();
    }
  }

  @Test
  void closeOfTheArenaUnmapsAndClosesAndForgets() throws IOException {
    MemorySegment memory = files.allocate(arena, 4096);
    long address = memory.address();
    List<Object> unmapped = new ArrayList<>();
    tampered.answer(
        "munmap",
        arguments -> {
          unmapped.addAll(List.of(arguments));
          return null;
        });
    FileRange range = fileOf(memory);
    Path link = link(range);
    range.close();
    range.close();
    assertThat(Files.isSymbolicLink(link)).isTrue();

    arena.close();

    assertThat(MemoryFile.of(address, 1)).isEmpty();
    assertThat(tampered.names).endsWith("munmap", "close");
    assertThat(unmapped).containsExactly(address, 4096L);
    assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void descriptorInUseOutlivesTheArena() {
    MemorySegment memory = files.allocate(arena, 4096);
    memory.set(ValueLayout.JAVA_BYTE, 7, (byte) 9);
    try (FileRange range = fileOf(memory)) {
      arena.close();
      assertThat(tampered.names).endsWith("munmap");
      assertThat(byteAt(range, 7)).isEqualTo((byte) 9);
    }
    assertThat(tampered.names).endsWith("munmap", "close");
  }

  @Test
  void foundDescriptorIsThatOfTheMemoryDespiteAConcurrentClose() throws Exception {
    MemorySource source = new MemoryFile(Linux.system());
    AtomicLong address = new AtomicLong();
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger found = new AtomicInteger();
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<?> seeker =
          executor.submit(
              () -> {
                while (!done.get()) {
                  try (FileRange range = MemoryFile.of(address.get(), 4096).orElse(null)) {
                    if (range != null) {
                      // A closed number would be an error, or another file's.
                      assertThat(Linux.system().lseek(range.descriptor(), 0, SEEK_END))
                          .isEqualTo(20480);
                      found.incrementAndGet();
                    }
                  }
                }
              });
      try {
        for (int round = 0; (round < 500 || found.get() < 20) && !seeker.isDone(); round++) {
          try (Arena brief = Arena.ofConfined()) {
            address.set(source.allocate(brief, 20480).address());
          }
        }
      } finally {
        done.set(true);
      }
      seeker.get();
    }
  }

  @Test
  void closedArenaLeavesNothingOpen() {
    arena.close();

    assertThatThrownBy(() -> files.allocate(arena, 4096)).isInstanceOf(IllegalStateException.class);

    assertThat(tampered.names).endsWith("munmap", "close");
  }

  @Test
  void failureLeavesNothingOpen() {
    for (String call : new String[] {"ftruncate", "fcntl", "mmap"}) {
      TamperedCalls failing = new TamperedCalls();
      failing.answer(
          call,
          arguments ->
              call.equals("mmap")
                  ? (int) arguments[3] < 0 ? null : (Object) (-12L)
                  : (Object) (-12));
      assertReason(Reason.NO_MEMORY, () -> new MemoryFile(failing.calls).allocate(arena, 4096))
          .hasMessageContainingAll("4096 bytes", "ulimit -v");
      assertThat(failing.names).endsWith("close");
    }
  }

  @Test
  void limitOfDescriptorsIsNamed() {
    tampered.fail("memfdCreate", LinuxErrno.EMFILE);

    assertReason(Reason.NO_MEMORY, () -> files.allocate(arena, 2 * MemorySource.HUGE_PAGE))
        .hasMessageContainingAll("descriptor", "ulimit -n");
  }

  @Test
  void kernelWithoutMemoryFilesIsReported() {
    tampered.fail("memfdCreate", LinuxErrno.ENOSYS);

    assertReason(Reason.UNSUPPORTED, () -> files.allocate(arena, 4096))
        .hasMessageContainingAll("memfd_create", "ENOSYS");
  }

  @Test
  void impossibleSizeIsRefusedAtOnce() {
    assertReason(Reason.NO_MEMORY, () -> files.allocate(arena, 1L << 46))
        .hasMessageContainingAll((1L << 46) + " bytes", "ulimit -v");
  }

  /** The kernel may have no huge pages: an ordinary file replaces them. */
  private void pretendHugePages() {
    tampered.answer(
        "memfdCreate",
        arguments -> {
          int flags = (int) arguments[1];
          if ((flags & MFD_HUGETLB) == 0) {
            return Linux.system().memfdCreate("ordinary", flags);
          }
          assertThat(flags >>> 26).as("logarithm of the size of a page").isEqualTo(21);
          return Linux.system().memfdCreate("huge", flags & 0xf & ~MFD_HUGETLB);
        });
  }

  private static String nameOf(MemorySegment memory) throws IOException {
    try (FileRange range = fileOf(memory)) {
      return Files.readSymbolicLink(link(range)).toString();
    }
  }

  @Test
  void wholeHugePagesAreAllocatedInAdvance() throws IOException {
    pretendHugePages();
    MemorySegment huge = files.allocate(arena, 2 * MemorySource.HUGE_PAGE);
    MemorySegment small = files.allocate(arena, MemorySource.HUGE_PAGE / 2);
    MemorySegment odd = files.allocate(arena, MemorySource.HUGE_PAGE + 4096);

    assertThat(nameOf(huge)).startsWith("/memfd:huge");
    assertThat(nameOf(small)).startsWith("/memfd:ordinary");
    assertThat(nameOf(odd)).startsWith("/memfd:ordinary");
    assertThat(tampered.names.stream().filter("fallocate"::equals)).hasSize(1);
  }

  @Test
  void ordinaryPagesAreUsedWhereHugeOnesAreMissing() throws IOException {
    pretendHugePages();
    tampered.fail("fallocate", LinuxErrno.ENOSPC);

    MemorySegment memory = files.allocate(arena, 2 * MemorySource.HUGE_PAGE);

    assertThat(nameOf(memory)).startsWith("/memfd:ordinary");
    assertThat(tampered.names.stream().filter("close"::equals)).hasSize(1);
  }

  /** With the pages that this system has. */
  @Test
  void largeMemoryWorksOnThisSystem() {
    long bytes = 2 * MemorySource.HUGE_PAGE;
    MemorySegment memory = files.allocate(arena, bytes);

    assertThat(memory.mismatch(arena.allocate(bytes))).isEqualTo(-1);
    memory.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 1);
    try (FileRange range = fileOf(memory)) {
      assertThat(range.offset()).isZero();
    }
  }

  @Test
  void smallBuffersOfAPoolShareAFile() {
    try (BufferPool pool = new BufferPool(files);
        BufferPool.Buffer one = pool.allocate(100);
        BufferPool.Buffer other = pool.allocate(100_000)) {
      Optional<FileRange> first = MemoryFile.of(one.segment().address(), 100);
      Optional<FileRange> second = MemoryFile.of(other.segment().address(), 100_000);
      assertThat(first.orElseThrow().descriptor()).isEqualTo(second.orElseThrow().descriptor());
      assertThat(first.orElseThrow().offset()).isNotEqualTo(second.orElseThrow().offset());
      first.orElseThrow().close();
      second.orElseThrow().close();
    }
    assertThat(tampered.names).endsWith("munmap", "close");
  }
}

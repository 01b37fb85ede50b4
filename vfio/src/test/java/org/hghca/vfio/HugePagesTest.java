package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With an ordinary directory in the place of a hugetlbfs. */
class HugePagesTest {
  private static final long SIZE = HugePages.SIZE;

  @TempDir private Path directory;
  private Path mounts;
  private Path counters;
  private Path mounted;
  private final Arena arena = Arena.ofShared();

  @BeforeEach
  void makeFiles() throws IOException {
    mounts = directory.resolve("mounts");
    counters = directory.resolve("sys/kernel/mm/hugepages/hugepages-2048kB");
    Files.createDirectories(counters);
    mounted = Files.createDirectory(directory.resolve("huge"));
    mount(mounted.toString(), "rw,relatime,pagesize=2M");
    free(4, 0);
  }

  @AfterEach
  void closeArena() {
    arena.close();
  }

  private void mount(String where, String options) throws IOException {
    Files.writeString(
        mounts,
        """
        proc /proc proc rw,nosuid 0 0
        none %s hugetlbfs %s 0 0
        tmpfs /run tmpfs rw 0 0
        """
            .formatted(where, options));
  }

  private void free(int free, int reserved) throws IOException {
    Files.writeString(counters.resolve("free_hugepages"), free + "\n");
    Files.writeString(counters.resolve("resv_hugepages"), reserved + "\n");
  }

  private HugePages pages() {
    return new HugePages(mounts, directory.resolve("sys"));
  }

  private Optional<MemorySegment> allocate(int count) {
    return pages().allocate(arena, count * SIZE);
  }

  @Test
  void memoryIsOfTheMountedFileSystemZeroedAndLeavesNoFile() throws IOException {
    MemorySegment memory = allocate(4).orElseThrow();

    assertThat(memory.byteSize()).isEqualTo(4 * SIZE);
    assertThat(memory.isMapped()).isTrue();
    assertThat(memory.mismatch(arena.allocate(4 * SIZE))).isEqualTo(-1);
    memory.set(ValueLayout.JAVA_BYTE, 4 * SIZE - 1, (byte) 7);
    try (var files = Files.list(mounted)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void thereIsNoneWhereTooFewPagesAreFree() throws IOException {
    assertThat(allocate(5)).isEmpty();
    free(4, 1); // One is promised to somebody.
    assertThat(allocate(4)).isEmpty();
    assertThat(allocate(3)).isPresent();
  }

  @Test
  void thereIsNoneWithoutAMountOfTheRightSize() throws IOException {
    mount(mounted.toString(), "rw,pagesize=1024M");
    assertThat(allocate(1)).isEmpty();
    mount(mounted.toString(), "rw,relatime");
    assertThat(allocate(1)).isPresent();
    mount(directory.resolve("nowhere").toString(), "rw,pagesize=2M");
    assertThat(allocate(1)).isEmpty();
    Files.writeString(mounts, "proc /proc proc rw 0 0\n");
    assertThat(allocate(1)).isEmpty();
  }

  @Test
  void thereIsNoneOnASystemThatTellsNothing() throws IOException {
    Files.delete(counters.resolve("free_hugepages"));
    assertThat(allocate(1)).isEmpty();
    free(4, 0);
    Files.delete(mounts);
    assertThat(allocate(1)).isEmpty();
    Files.writeString(counters.resolve("free_hugepages"), "many\n");
    assertThat(allocate(1)).isEmpty();
  }

  @Test
  void aBlankInTheNameOfTheMountIsAnOctalNumber() throws IOException {
    Path odd = Files.createDirectory(directory.resolve("huge pages"));
    mount(odd.toString().replace(" ", "\\040"), "rw,pagesize=2M");
    assertThat(allocate(1)).isPresent();
  }

  @Test
  void poolsUseThemFromTwoMebibytes() {
    try (BufferPool pool = new BufferPool(Arena.ofShared(), pages());
        BufferPool.Buffer large = pool.allocate(SIZE);
        BufferPool.Buffer small = pool.allocate(SIZE / 2);
        BufferPool.Buffer tooLarge = pool.allocate(5 * SIZE)) {
      assertThat(large.deviceMemory().isMapped()).isTrue();
      assertThat(small.deviceMemory().isMapped()).isFalse();
      assertThat(tooLarge.deviceMemory().isMapped()).isFalse();
      assertThat(large.segment().byteSize()).isEqualTo(SIZE);
      assertThat(large.segment().address() % 4096).isZero();
    }
  }

  /** Does the system's own lookup work, whatever it finds? */
  @Test
  void poolsWorkOnThisSystem() {
    try (BufferPool pool = new BufferPool();
        BufferPool.Buffer buffer = pool.allocate(2 * SIZE + 1)) {
      buffer.segment().set(ValueLayout.JAVA_BYTE, 2 * SIZE, (byte) 1);
      assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
    }
  }
}

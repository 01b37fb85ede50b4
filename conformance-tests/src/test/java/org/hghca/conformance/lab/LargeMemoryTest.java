package org.hghca.conformance.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The cost of giving a device 1 GiB: system calls, and time. The system property {@code
 * hghca.lab.edu} names a function behind an IOMMU, {@code hghca.lab.trace} the file to which the
 * log writes the system calls of this process. The system has 1 GiB of free huge pages of 2 MiB,
 * and as much other memory.
 */
@EnabledIfSystemProperty(named = "hghca.lab.trace", matches = ".+")
class LargeMemoryTest {
  private static final String LOCATOR = System.getProperty("hghca.lab.edu", "");
  private static final Path TRACE = Path.of(System.getProperty("hghca.lab.trace", ""));

  private static final long GIBIBYTE = 1L << 30;

  /** A call that maps: struct vfio_iommu_type1_dma_map or struct iommu_ioas_map. */
  private static final Pattern MAP =
      Pattern.compile(
          "ioctl\\(.*(VFIO_IOMMU_MAP_DMA|IOMMU_IOAS_MAP) .*\\{(\\p{XDigit}+)}\\) = 0x0.*");

  @Test
  void pagesOfTheProgramAreMappedInOneCall(TestReporter reporter) throws IOException {
    long free = freeHugePages();
    try (PciFunction function = open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = MemorySource.ANONYMOUS.allocate(arena, GIBIBYTE);
      assertThat(freeHugePages()).as("huge pages of hugetlbfs are not used").isEqualTo(free);
      report(reporter, "memory of the program", function, memory);
    }
  }

  @Test
  void hugePagesAreMappedInOneCall(TestReporter reporter) throws IOException {
    long free = freeHugePages();
    assertThat(free).isGreaterThanOrEqualTo(GIBIBYTE / MemorySource.HUGE_PAGE);
    try (PciFunction function = open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = function.memory().allocate(arena, GIBIBYTE);
      assertThat(free - freeHugePages()).isEqualTo(GIBIBYTE / MemorySource.HUGE_PAGE);
      report(reporter, "2 MiB pages", function, memory);
    }
    assertThat(freeHugePages()).as("given back").isEqualTo(free);
  }

  /** Touches each page, so that the kernel has only to find it; maps all; reads the trace. */
  private static void report(
      TestReporter reporter, String what, PciFunction function, MemorySegment memory)
      throws IOException {
    for (long page = 0; page < GIBIBYTE; page += DmaMapping.PAGE_SIZE) {
      memory.set(ValueLayout.JAVA_BYTE, page, (byte) 1);
    }
    long lines = Files.readAllLines(TRACE).size();
    long start = System.nanoTime();
    try (DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE)) {
      long nanos = System.nanoTime() - start;
      assertThat(mapping.iova(GIBIBYTE - 1) - mapping.iova(0)).isEqualTo(GIBIBYTE - 1);
      List<String> calls = Files.readAllLines(TRACE).stream().skip(lines).toList();
      assertThat(calls)
          .filteredOn(call -> call.contains("_MAP"))
          .singleElement()
          .satisfies(call -> assertThat(length(call)).isEqualTo(GIBIBYTE));
      reporter.publishEntry(
          "1 GiB of %s, pre-faulted, in one call".formatted(what),
          "%d ms".formatted(nanos / 1_000_000));
    }
  }

  /** Bytes that each call has mapped: 64 bits at offset 24 in both structures. */
  private static long length(String call) {
    Matcher matcher = MAP.matcher(call);
    assertThat(call).matches(MAP);
    assertThat(matcher.matches()).isTrue();
    return Long.reverseBytes(Long.parseUnsignedLong(matcher.group(2).substring(48, 64), 16));
  }

  private static PciFunction open() {
    return PciFunctions.open(Locator.parse(LOCATOR));
  }

  private static long freeHugePages() throws IOException {
    return Long.parseLong(
        Files.readString(Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"))
            .strip());
  }
}

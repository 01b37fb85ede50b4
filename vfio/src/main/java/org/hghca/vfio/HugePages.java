package org.hghca.vfio;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory in pages of 2 MiB, which cost a device and a processor far fewer translations: a file of a
 * mounted hugetlbfs, gone from its directory before anybody uses it. The system maps it only when
 * it can set all its pages aside. Thread-safe.
 */
final class HugePages {
  /** The size of a page in bytes, of which every piece of memory is a multiple. */
  static final long SIZE = 2 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(HugePages.class);
  private static final String COUNTERS = "kernel/mm/hugepages/hugepages-2048kB";

  /** A line of the mount table: device, directory, hugetlbfs, options. */
  private static final Pattern MOUNT = Pattern.compile("\\S+ (\\S+) hugetlbfs (\\S+)( .*)?");

  private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

  private final Path mounts;
  private final Path counters;

  /** The system's. */
  HugePages() {
    this(Path.of("/proc/mounts"), Path.of("/sys"));
  }

  /**
   * What other files tell of.
   *
   * @param mounts a table of mounts, as {@code /proc/mounts}
   * @param sys a directory as {@code /sys}
   */
  HugePages(Path mounts, Path sys) {
    this.mounts = mounts;
    this.counters = sys.resolve(COUNTERS);
  }

  /**
   * Zeroed memory that lives as long as an arena.
   *
   * @param bytes a multiple of {@link #SIZE}
   * @return empty when the system has no such memory, or not so much
   */
  Optional<MemorySegment> allocate(Arena arena, long bytes) {
    try {
      long free = count("free_hugepages") - count("resv_hugepages");
      Optional<Path> directory = free >= bytes / SIZE ? directory() : Optional.empty();
      if (directory.isPresent()) {
        return Optional.of(map(directory.get(), arena, bytes));
      }
      LOG.debug("no huge pages for {} bytes: {} are free, or nowhere mounted", bytes, free);
      return Optional.empty();
    } catch (IOException | NumberFormatException e) {
      LOG.debug("no huge pages for {} bytes: {}", bytes, e.toString());
      return Optional.empty();
    }
  }

  private long count(String name) throws IOException {
    Path file = counters.resolve(name);
    return Files.isReadable(file) ? Long.parseLong(Files.readString(file).strip()) : 0;
  }

  /** Where files have pages of the right size, and we may make some. */
  private Optional<Path> directory() throws IOException {
    for (String line : Files.readAllLines(mounts)) {
      Matcher mount = MOUNT.matcher(line);
      if (mount.matches() && isRightSize(mount.group(2))) {
        Path directory = Path.of(unescape(mount.group(1)));
        if (Files.isWritable(directory)) {
          return Optional.of(directory);
        }
      }
    }
    return Optional.empty();
  }

  /** Without an option the pages are of the processor's usual size, which on x86-64 is ours. */
  private static boolean isRightSize(String options) {
    for (String option : options.split(",")) {
      if (option.startsWith("pagesize=")) {
        return option.equals("pagesize=2M");
      }
    }
    return true;
  }

  /** The table has blanks and the like as three octal digits. */
  private static String unescape(String name) {
    return OCTAL
        .matcher(name)
        .replaceAll(
            octal ->
                Matcher.quoteReplacement(
                    String.valueOf((char) Integer.parseInt(octal.group(1), 8))));
  }

  private static MemorySegment map(Path directory, Arena arena, long bytes) throws IOException {
    Path file = Files.createTempFile(directory, "hghca", "");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    } finally {
      Files.delete(file); // What is mapped stays.
    }
  }
}

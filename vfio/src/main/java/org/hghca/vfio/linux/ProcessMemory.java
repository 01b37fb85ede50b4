package org.hghca.vfio.linux;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.FileReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.linux.LostPages;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The mapped addresses of this process, from {@code /proc/self/maps}: a segment may have been
 * created from any address, and an access to an unmapped one ends the process.
 *
 * <p>The kernel reports areas by ascending address, some at a time. Areas that change elsewhere
 * meanwhile do not matter: it continues after the last reported one. Source:
 * Documentation/filesystems/proc.rst.
 */
public final class ProcessMemory {
  private static final String MAPS = "/proc/self/maps";

  private ProcessMemory() {}

  /**
   * Checks that memory is mapped, as far as this system reports it; it takes about 0.1 ms, and
   * longer with many mappings. A file may be shorter than its mapping: {@link LostPages}.
   *
   * @throws VfioException {@code BAD_ADDRESS} when some of it is not mapped, or without the
   *     required access rights; {@code NO_MEMORY} when the process has no descriptor left for the
   *     check
   */
  public static void check(MemorySegment memory, DmaAccess access) {
    try (BufferedReader maps =
        new BufferedReader(new FileReader(MAPS, StandardCharsets.ISO_8859_1))) {
      check(maps, memory.address(), memory.byteSize(), access);
    } catch (FileNotFoundException e) {
      if (!Files.exists(Path.of(MAPS))) {
        return; // no /proc: a sandbox
      }
      throw new VfioException(
          Reason.NO_MEMORY,
          "cannot check whether memory is mapped: %s; raise ulimit -n".formatted(e.getMessage()),
          e);
    } catch (IOException e) {
      throw new VfioException(Reason.NO_MEMORY, "cannot read " + MAPS, e);
    }
  }

  /** As {@link #check(MemorySegment, DmaAccess)}, of lines such as {@code 7f00-8f00 rw-p ...}. */
  static void check(BufferedReader maps, long start, long bytes, DmaAccess access)
      throws IOException {
    long next = start;
    long end = start + bytes;
    if (Long.compareUnsigned(end, start) < 0) {
      throw bad(start, bytes, start, "is not mapped"); // it would end after the last address
    }
    for (String line = maps.readLine();
        line != null && Long.compareUnsigned(next, end) < 0;
        line = maps.readLine()) {
      int dash = line.indexOf('-');
      int space = line.indexOf(' ');
      if (Long.compareUnsigned(address(line, dash + 1, space), next) > 0) {
        if (Long.compareUnsigned(address(line, 0, dash), next) > 0) {
          break;
        }
        if (line.charAt(space + 1) != 'r') {
          throw bad(start, bytes, next, "may not be read");
        }
        if (access.writable() && line.charAt(space + 2) != 'w') {
          throw bad(start, bytes, next, "may not be written");
        }
        next = address(line, dash + 1, space);
      }
    }
    if (Long.compareUnsigned(next, end) < 0) {
      throw bad(start, bytes, next, "is not mapped");
    }
  }

  private static long address(String line, int from, int to) {
    return Long.parseUnsignedLong(line, from, to, 16);
  }

  private static VfioException bad(long start, long bytes, long at, String what) {
    return new VfioException(
        Reason.BAD_ADDRESS,
        "memory of %d bytes at 0x%x %s at 0x%x".formatted(bytes, start, what, at));
  }
}

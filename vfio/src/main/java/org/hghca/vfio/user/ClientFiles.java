package org.hghca.vfio.user;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/**
 * The files with a client's memory. Each file is mapped once as a whole, independent of the number
 * of its ranges, and unmapped with the last of them. Not thread-safe.
 */
final class ClientFiles {
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int MAP_SHARED = 1;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFREG = 0x8000;

  /**
   * The maximum number of mappings, and their maximum total size. A process has some 65,000 of all
   * kinds (vm.max_map_count), and 128 TiB of addresses; a JVM that runs out of them ends.
   */
  static final int MOST_MAPPINGS = 16_384;

  static final long MOST_BYTES = 1L << 44;

  private record Identity(long device, long inode) {}

  private record Status(Identity identity, long size, boolean regular) {}

  /** A mapped file, or its beginning as of when it was shorter. */
  final class Mapping {
    private final Identity identity;
    private final MemorySegment memory;
    private final boolean writable;
    private int users;

    private Mapping(Identity identity, MemorySegment memory, boolean writable) {
      this.identity = identity;
      this.memory = memory;
      this.writable = writable;
    }

    /** The bytes of the file. They may be gone when the client shortens it. */
    MemorySegment memory() {
      return memory;
    }

    /** Removes one range. */
    void release() {
      users--;
      if (users == 0) {
        current.remove(identity, this);
        system.munmap(memory.address(), memory.byteSize());
        mappings--;
        bytes -= memory.byteSize();
      }
    }
  }

  private final SystemCalls system;
  private final Map<Identity, Mapping> current = new HashMap<>();
  private int mappings;
  private long bytes;

  ClientFiles(SystemCalls system) {
    this.system = system;
  }

  /**
   * A mapping that has a range of a file; for one more range.
   *
   * @param descriptor stays the caller's, and is not needed afterwards
   * @throws Refusal when it is no file, is too short, or cannot be mapped so
   */
  Mapping map(int descriptor, long offset, long length, boolean write) {
    Status status = status(descriptor);
    if (!status.regular) {
      throw Refusal.invalid("the descriptor is not a memory file");
    }
    if (offset < 0 || length > status.size - offset) {
      throw Refusal.invalid(
          "0x%x bytes at 0x%x lie outside a file of 0x%x bytes"
              .formatted(length, offset, status.size));
    }
    Mapping mapping = current.get(status.identity);
    if (mapping == null
        || offset + length > mapping.memory.byteSize()
        || write && !mapping.writable) {
      mapping = mapWhole(status, descriptor, write);
      current.put(status.identity, mapping);
      mappings++;
      bytes += status.size;
    }
    mapping.users++;
    return mapping;
  }

  @SuppressWarnings("restricted")
  private Mapping mapWhole(Status status, int descriptor, boolean write) {
    if (mappings == MOST_MAPPINGS || status.size > MOST_BYTES - bytes) {
      throw new Refusal(
          LinuxErrno.ENOSPC,
          "a file of 0x%x bytes, with %d mapped of 0x%x bytes"
              .formatted(status.size, mappings, bytes));
    }
    boolean writable = true;
    long address = system.mmap(status.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (address < 0 && address > -4096 && !write) {
      writable = false;
      address = system.mmap(status.size, PROT_READ, MAP_SHARED, descriptor, 0);
    }
    if (address < 0 && address > -4096) {
      throw new Refusal(
          LinuxErrno.EACCES.is(address) ? LinuxErrno.EACCES : LinuxErrno.ENOMEM,
          "a file of 0x%x bytes cannot be mapped: %s"
              .formatted(status.size, LinuxErrno.describe(address)));
    }
    MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(status.size);
    return new Mapping(status.identity, memory, writable);
  }

  private static Status status(int descriptor) {
    try {
      Map<String, Object> attributes =
          Files.readAttributes(Path.of("/proc/self/fd/" + descriptor), "unix:dev,ino,size,mode");
      return new Status(
          new Identity((long) attributes.get("dev"), (long) attributes.get("ino")),
          (long) attributes.get("size"),
          ((int) attributes.get("mode") & S_IFMT) == S_IFREG);
    } catch (IOException | UnsupportedOperationException e) {
      throw Refusal.invalid("the descriptor cannot be inspected: " + e.getMessage());
    }
  }
}

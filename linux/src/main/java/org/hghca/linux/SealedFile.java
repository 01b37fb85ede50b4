package org.hghca.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that a process gives to another one: a file without a name (memfd_create(2)) whose size is
 * sealed, so that whoever maps it never meets a page that is gone.
 */
public final class SealedFile {
  // linux/memfd.h
  private static final int MFD_CLOEXEC = 0x1;
  private static final int MFD_ALLOW_SEALING = 0x2;

  // linux/fcntl.h
  private static final int F_ADD_SEALS = 1033;
  private static final int F_GET_SEALS = 1034;
  private static final int SEALS = 0x1 | 0x2 | 0x4; // SEAL, SHRINK, GROW

  private static final int SEEK_END = 2;

  // asm-generic/mman.h
  private static final int PROT_NONE = 0;
  private static final int PROT_READ = 0x1;
  private static final int PROT_READ_WRITE = 0x3;
  private static final int MAP_SHARED = 0x1;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;

  private SealedFile() {}

  /**
   * Makes a file whose pages are there: a lack of memory shows now, and not as a signal later.
   *
   * @param name for /proc, where a user looks for what takes memory
   * @return its descriptor, or a negative error number
   */
  public static int create(SystemCalls linux, String name, long bytes) {
    return create(linux, name, bytes, 0, true);
  }

  /**
   * Makes a file of a kind.
   *
   * @param flags of memfd_create(2) beside those that every such file has
   * @param allocates whether its pages are there, as by {@link #create(SystemCalls, String, long)}
   * @return its descriptor, or a negative error number
   */
  public static int create(
      SystemCalls linux, String name, long bytes, int flags, boolean allocates) {
    int file = linux.memfdCreate(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (file < 0) {
      return file;
    }
    int answer = linux.ftruncate(file, bytes);
    if (answer == 0) {
      answer = linux.fcntl(file, F_ADD_SEALS, SEALS);
    }
    if (answer == 0 && allocates) {
      answer = linux.fallocate(file, 0, 0, bytes);
    }
    if (answer < 0) {
      linux.close(file);
      return answer;
    }
    return file;
  }

  /** Whether a file that came from another process has this size for ever. */
  public static boolean isSealed(SystemCalls linux, int file, long bytes) {
    int seals = linux.fcntl(file, F_GET_SEALS, 0);
    return seals >= 0 && (seals & SEALS) == SEALS && linux.lseek(file, 0, SEEK_END) == bytes;
  }

  /**
   * Maps a file for as long as an arena lives.
   *
   * @return null when there is no memory or no room for it
   */
  public static MemorySegment map(
      SystemCalls linux, int file, long bytes, boolean writable, Arena arena) {
    long address = linux.mmap(bytes, protection(writable), MAP_SHARED, file, 0);
    return address < 0 ? null : Mapping.memory(linux, address, bytes, arena);
  }

  /**
   * Maps a file twice, the second time behind the first, so that what begins in the first and is no
   * longer than the file is in one piece.
   *
   * @param bytes of the file, whole pages
   * @return the memory, twice as long as the file; null when there is no memory or no room for it
   */
  public static MemorySegment mapTwice(
      SystemCalls linux, int file, long bytes, boolean writable, Arena arena) {
    long address = linux.mmap(2 * bytes, PROT_NONE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    if (address < 0) {
      return null;
    }
    int protection = protection(writable);
    if (linux.mmapFileInPlace(address, bytes, protection, file) < 0
        || linux.mmapFileInPlace(address + bytes, bytes, protection, file) < 0) {
      linux.munmap(address, 2 * bytes);
      return null;
    }
    return Mapping.memory(linux, address, 2 * bytes, arena);
  }

  private static int protection(boolean writable) {
    return writable ? PROT_READ_WRITE : PROT_READ;
  }
}

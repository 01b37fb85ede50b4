package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;

/**
 * The layout of a ring of register writes, in a sealed file that the client makes and both ends
 * map. The client writes the entries, one after another, the server the two words before them. Each
 * end keeps its own position and reads what the other one writes once: it may change at any time.
 *
 * <pre>
 *   00h how many entries the server has taken
 *   40h odd while the server's poller sleeps; another number each time
 * 1000h 1024 entries of 32 bytes
 *       00h  63..16 how often the ring was filled up to here, with this time   15..8 region   7..0 width
 *       08h offset in the region
 *       10h value
 * </pre>
 *
 * The first word of an entry is written last: it says that the entry is there.
 */
final class RegisterRing {
  /** Both ends must have the same one. */
  static final int LAYOUT = 1;

  static final int ENTRIES = 1024;

  private static final long TAKEN = 0;
  private static final long SLEEP = 0x40;
  private static final long FIRST_ENTRY = 0x1000;
  private static final int ENTRY_BYTES = 32;
  private static final int OFFSET = 0x08;
  private static final int VALUE = 0x10;
  static final long BYTES = FIRST_ENTRY + (long) ENTRIES * ENTRY_BYTES;

  private static final int LAP_SHIFT = 16;
  private static final int REGION_SHIFT = 8;
  private static final int BYTE = 0xff;

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment memory;

  private RegisterRing(MemorySegment memory) {
    this.memory = memory;
  }

  /**
   * Makes the file of a ring.
   *
   * @return its descriptor, or a negative error number
   */
  static int create(SystemCalls system) {
    return SealedFile.create(system, "hghca-registers", BYTES);
  }

  /** Whether a file that came from another process is one that can be mapped without a danger. */
  static boolean isSealed(SystemCalls system, int file) {
    return SealedFile.isSealed(system, file, BYTES);
  }

  /**
   * Maps a file for as long as an arena lives.
   *
   * @return null when there is no memory for it, or the file cannot be written
   */
  static RegisterRing map(SystemCalls system, int file, Arena arena) {
    MemorySegment memory = SealedFile.map(system, file, BYTES, true, arena);
    return memory == null ? null : new RegisterRing(memory);
  }

  private static long at(long position) {
    return FIRST_ENTRY + position % ENTRIES * ENTRY_BYTES;
  }

  private static long lap(long position) {
    return position / ENTRIES + 1;
  }

  // ---- the client

  /** Writes an entry, and shows it. */
  void put(long position, int region, long offset, int width, long value) {
    long at = at(position);
    LONG.setOpaque(memory, at + OFFSET, offset);
    LONG.setOpaque(memory, at + VALUE, value);
    LONG.setRelease(memory, at, lap(position) << LAP_SHIFT | (long) region << REGION_SHIFT | width);
  }

  long taken() {
    return (long) LONG.getAcquire(memory, TAKEN);
  }

  /** Odd while the server's poller sleeps. To be read behind a full fence. */
  long sleep() {
    return (long) LONG.getOpaque(memory, SLEEP);
  }

  // ---- the server

  /**
   * Looks for an entry.
   *
   * @return its first word, 0 where it is not there yet
   * @throws Refusal when there is what no client writes
   */
  long first(long position) {
    long word = (long) LONG.getAcquire(memory, at(position));
    long ahead = (word >>> LAP_SHIFT) - lap(position);
    if (ahead == 0) {
      return word;
    }
    if (ahead != -1) {
      throw Refusal.invalid("entry %d begins with 0x%x".formatted(position, word));
    }
    return 0;
  }

  static int region(long first) {
    return (int) (first >>> REGION_SHIFT) & BYTE;
  }

  static int width(long first) {
    return (int) first & BYTE;
  }

  long offset(long position) {
    return (long) LONG.getOpaque(memory, at(position) + OFFSET);
  }

  long value(long position) {
    return (long) LONG.getOpaque(memory, at(position) + VALUE);
  }

  void taken(long entries) {
    LONG.setRelease(memory, TAKEN, entries);
  }

  /** What is looked for afterwards, behind a full fence, is not missed. */
  void sleep(long number) {
    LONG.setOpaque(memory, SLEEP, number);
  }
}

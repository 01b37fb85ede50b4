package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/**
 * Queries an information structure of VFIO. The kernel stores the total size in {@code argsz}, and
 * as many capabilities after the structure as fit: the call is repeated with a larger buffer if it
 * was too small.
 */
final class InfoCall {
  /** More than any chain of capabilities needs. */
  private static final int MOST = 1 << 20;

  private InfoCall() {}

  /**
   * Queries with an empty structure.
   *
   * @param size of the structure without what follows it
   * @param what the request, as the start of the message about its failure
   */
  static MemorySegment ask(Arena arena, ToIntFunction<MemorySegment> call, int size, String what) {
    return ask(arena, call, size, structure -> {}, what);
  }

  /**
   * Queries with a structure that has more input than its size.
   *
   * @param fill writes the input
   */
  static MemorySegment ask(
      Arena arena,
      ToIntFunction<MemorySegment> call,
      int size,
      Consumer<MemorySegment> fill,
      String what) {
    int room = size;
    while (true) {
      MemorySegment structure = arena.allocate(room, Long.BYTES);
      structure.set(JAVA_INT, VfioAbi.ARGSZ, room);
      fill.accept(structure);
      KernelErrors.checked(call.applyAsInt(structure), what);
      int needed = structure.get(JAVA_INT, VfioAbi.ARGSZ);
      if (needed <= room || needed > MOST) {
        return structure;
      }
      room = needed;
    }
  }
}

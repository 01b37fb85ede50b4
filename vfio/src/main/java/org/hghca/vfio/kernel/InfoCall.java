package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/**
 * Asks VFIO for an information structure. The kernel puts the size of the whole into {@code argsz}
 * and what has room behind the structure: it is asked again with more room when there was too
 * little.
 */
final class InfoCall {
  /** More than any chain of capabilities takes. */
  private static final int MOST = 1 << 20;

  private InfoCall() {}

  /**
   * Asks with an empty structure.
   *
   * @param size of the structure without what follows it
   * @param what the request, as the start of the sentence that says its failure
   */
  static MemorySegment ask(Arena arena, ToIntFunction<MemorySegment> call, int size, String what) {
    return ask(arena, call, size, structure -> {}, what);
  }

  /**
   * Asks with a structure that says more than its size.
   *
   * @param fill writes that
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

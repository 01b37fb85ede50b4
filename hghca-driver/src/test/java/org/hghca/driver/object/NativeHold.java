package org.hghca.driver.object;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Runs an action while native code holds memory: in the comparison of a sort in C. */
final class NativeHold {
  private static final Linker LINKER = Linker.nativeLinker();

  private final Runnable action;

  private NativeHold(Runnable action) {
    this.action = action;
  }

  @SuppressWarnings("unused") // Called by qsort.
  private int compare(MemorySegment a, MemorySegment b) {
    action.run();
    return 0;
  }

  /**
   * Runs an action, which must not throw.
   *
   * @param memory at least 2 bytes
   */
  @SuppressWarnings("restricted")
  static void during(MemorySegment memory, Runnable action) throws Throwable {
    MethodHandle qsort =
        LINKER.downcallHandle(
            LINKER.defaultLookup().find("qsort").orElseThrow(),
            FunctionDescriptor.ofVoid(
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS));
    MethodHandle compare =
        MethodHandles.lookup()
            .findVirtual(
                NativeHold.class,
                "compare",
                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class))
            .bindTo(new NativeHold(action));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment callback =
          LINKER.upcallStub(
              compare,
              FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
              arena);
      qsort.invokeExact(memory, 2L, 1L, callback);
    }
  }
}

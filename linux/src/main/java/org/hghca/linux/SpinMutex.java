package org.hghca.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lock, held for some nanoseconds, whose waiter spins and never gives its carrier to another
 * virtual thread, as one that waits for a monitor or parks would: a virtual thread may wait for it
 * while it holds what threads spin for on all carriers. The owner may not block, and so runs, or
 * has lost its processor to another thread of the system, to which the waiter yields. Not
 * reentrant.
 */
public final class SpinMutex {
  private static final int SPINS = Runtime.getRuntime().availableProcessors() == 1 ? 1 : 200;
  private static final VarHandle HELD;
  private static final AtomicBoolean BINDING = new AtomicBoolean();

  /** Whether {@link SchedYield} can be called without waiting for it to be bound. */
  private static volatile boolean bound;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinMutex.class, "held", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private boolean held;

  /** The system call, which takes longer to bind than a device to open: bound on first use. */
  private static final class SchedYield {
    private static final MethodHandle CALL = find();

    private SchedYield() {}

    @SuppressWarnings("restricted")
    private static MethodHandle find() {
      Linker linker = Linker.nativeLinker();
      return linker
          .defaultLookup()
          .find("sched_yield")
          .map(found -> linker.downcallHandle(found, FunctionDescriptor.of(ValueLayout.JAVA_INT)))
          .orElse(null);
    }
  }

  public void lock() {
    int spins = 0;
    while ((boolean) HELD.getAcquire(this) || (boolean) HELD.getAndSetAcquire(this, true)) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        yieldProcessor();
        spins = 0;
      }
    }
  }

  public void unlock() {
    HELD.setRelease(this, false);
  }

  /** Yields to other threads of the system; a virtual thread stays on its carrier. */
  public static void yieldProcessor() {
    if (!Thread.currentThread().isVirtual()) {
      Thread.yield();
    } else if (bound) {
      yieldCarrier();
    } else {
      // Binding takes locks, and who waits for a lock may leave its carrier: not this thread.
      if (BINDING.compareAndSet(false, true)) {
        Thread.ofPlatform().daemon().name("hghca-sched-yield").start(SpinMutex::bind);
      }
      Thread.onSpinWait();
    }
  }

  private static void bind() {
    bound = SchedYield.CALL != null;
  }

  private static void yieldCarrier() {
    try {
      int _ = (int) SchedYield.CALL.invokeExact();
    } catch (Throwable e) {
      throw new LinkageError("sched_yield", e);
    }
  }
}

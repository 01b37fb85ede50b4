package org.hghca.provider.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.vfio.GiveWay;

/**
 * The lock of one ring: held for a few nanoseconds, taken with one atomic instruction and released
 * with a plain store. A waiter spins for a moment and then {@linkplain GiveWay gives way}: the
 * owner may wait for a processor, or be a virtual thread that waits for its carrier in a register
 * access. Not reentrant. With assertions enabled, it is an error to take locks in an order other
 * than that of {@link LockRank}.
 */
public final class SpinLock {
  private static final int SPINS = GiveWay.looks(200);
  private static final int FREE = 0;
  private static final int TAKEN = 1;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The ranks that a thread holds, as bits; used by assertions only. */
  private static final ThreadLocal<int[]> RANKS = ThreadLocal.withInitial(() -> new int[1]);

  private final LockRank rank;

  @SuppressWarnings("unused") // through HELD
  private int held;

  /**
   * Keeps what is next in the heap off the cache line of a lock, which its users write each time.
   */
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

  public SpinLock(LockRank rank) {
    this.rank = rank;
  }

  public void lock() {
    assert isInOrder();
    if ((int) HELD.getAndSet(this, TAKEN) != FREE) {
      await();
    }
  }

  private void await() {
    int spins = 0;
    boolean interrupted = false;
    while ((int) HELD.getAcquire(this) == TAKEN || (int) HELD.getAndSet(this, TAKEN) != FREE) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        interrupted |= GiveWay.pause();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isInOrder() {
    int[] ranks = RANKS.get();
    if (ranks[0] >>> rank.ordinal() != 0) {
      throw new AssertionError(
          "a lock of %s is taken under one of %s"
              .formatted(rank, LockRank.values()[31 - Integer.numberOfLeadingZeros(ranks[0])]));
    }
    ranks[0] |= 1 << rank.ordinal();
    return true;
  }

  private boolean isLetGo() {
    RANKS.get()[0] &= ~(1 << rank.ordinal());
    return true;
  }

  public void unlock() {
    assert isLetGo();
    HELD.setRelease(this, FREE);
  }
}

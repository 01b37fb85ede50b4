package org.hghca.vfio.direct;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.hghca.vfio.MmioRegion;

/**
 * A register of 8 bytes that a ring stores to by its address, without a check. The ring keeps the
 * address: an object in between would cost a load behind the lock.
 *
 * <p>Callers guarantee what they guarantee for {@link RingMemory}: a store is made under the lock
 * of the ring, after a check under the same lock that the ring is open, and the owner closes the
 * ring under that lock before it closes the function. A function that is lost meanwhile leaves
 * memory at the address, which nobody reads.
 */
public final class GuardedRegister {
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private GuardedRegister() {}

  /**
   * One store, ordered after all earlier stores of the calling thread.
   *
   * @param address as {@link MmioRegion#address} returns it, not 0
   */
  public static void writeLong(long address, long value) {
    LONG.setRelease(RingMemory.guardedSegment(), RingMemory.at(address, 0), value);
  }
}

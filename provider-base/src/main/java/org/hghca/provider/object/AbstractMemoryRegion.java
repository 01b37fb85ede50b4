package org.hghca.provider.object;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.hghca.provider.Resource;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.counters.Tally;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Counter;
import org.hghca.verbs.MemoryRegion;
import org.hghca.vfio.DmaAccess;

/** Registered memory of an application, of any driver. */
public abstract class AbstractMemoryRegion extends Resource
    implements MemoryRegion, ContextCounters.Counted {
  private final AbstractContext context;

  /** A region that is not complete. */
  protected AbstractMemoryRegion(AbstractProtectionDomain pd) {
    super(pd);
    this.context = pd.context();
  }

  /** Completes it, the last step of a construction. */
  protected final void finish() {
    context.count(this);
    publish();
  }

  /** Makes the device release it, and frees its memory if that is the driver's. */
  protected abstract void deregister();

  @Override
  protected final void release() {
    context.countNoMore(this);
    deregister();
  }

  @Override
  public final void addTo(Tally sum) {
    sum.add(Counter.MEMORY_REGIONS, 1);
    sum.add(Counter.REGISTERED_BYTES, length());
  }

  /** The address of the first byte of memory, for requests. */
  protected static long start(MemorySegment memory, Set<AccessFlag> access) {
    return access.contains(AccessFlag.ZERO_BASED) ? 0 : memory.address();
  }

  /** How the device accesses memory. */
  protected static DmaAccess dmaAccess(Set<AccessFlag> access) {
    return access.contains(AccessFlag.LOCAL_WRITE) ? DmaAccess.READ_WRITE : DmaAccess.READ;
  }

  @Override
  public final String describe() {
    return "MR 0x%08x".formatted(lkey());
  }

  @Override
  protected final String standing() {
    return "%d bytes at 0x%x, rkey 0x%08x, %s".formatted(length(), address(), rkey(), access());
  }

  @Override
  public final long address() {
    return start(segment(), access());
  }

  @Override
  public final long length() {
    return segment().byteSize();
  }
}

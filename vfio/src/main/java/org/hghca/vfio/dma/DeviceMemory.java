package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiFunction;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.ProcessMemory;

/**
 * The memory that one function accesses: mapped and allocated memory. Several functions may share
 * an address space; each has its own instance of this class. Thread-safe.
 *
 * <p>Closing unmaps all remaining mappings and frees the allocated memory; it is idempotent.
 */
public final class DeviceMemory implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(DeviceMemory.class);

  private final Locator locator;
  private final AddressSpace space;
  private final PagePool pages;
  private final Set<Mapping> mappings = ConcurrentHashMap.newKeySet();
  private final LongAdder mapped = new LongAdder();

  /**
   * Held shared while mappings are added and removed, and exclusively by the close that ends them
   * all.
   */
  private final ReadWriteLock life = new ReentrantReadWriteLock();

  private boolean closed;

  /**
   * The memory of a function.
   *
   * @param locator names the function in messages
   * @param source what {@link #allocate} gives
   */
  public DeviceMemory(Locator locator, AddressSpace space, MemorySource source) {
    this.locator = locator;
    this.space = space;
    this.pages = new PagePool(source);
  }

  /** As {@link org.hghca.vfio.PciFunction#allocate}. */
  public DmaMapping allocate(long bytes) {
    if (bytes <= 0) {
      throw new VfioException(Reason.INVALID, "cannot allocate %d bytes".formatted(bytes));
    }
    life.readLock().lock();
    try {
      checkOpen();
      MemorySegment slab;
      synchronized (pages) {
        slab = pages.take(bytes);
      }
      try {
        MemorySegment memory = slab.asSlice(0, PagePool.wholePages(bytes));
        return add(
            new Mapping(
                memory, DmaAccess.READ_WRITE, space.pinOwned(memory, DmaAccess.READ_WRITE), slab));
      } catch (RuntimeException e) {
        giveBack(slab);
        throw e;
      }
    } finally {
      life.readLock().unlock();
    }
  }

  /** As {@link org.hghca.vfio.PciFunction#map}. */
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return map(memory, access, space::pin);
  }

  /** As {@link org.hghca.vfio.PciFunction#mapOwned}. */
  public DmaMapping mapOwned(MemorySegment memory, DmaAccess access) {
    return map(memory, access, space::pinOwned);
  }

  private DmaMapping map(
      MemorySegment memory,
      DmaAccess access,
      BiFunction<MemorySegment, DmaAccess, AddressSpace.Pin> pinning) {
    checkMappable(memory, access);
    life.readLock().lock();
    try {
      checkOpen();
      return add(new Mapping(memory, access, pinning.apply(memory, access), null));
    } finally {
      life.readLock().unlock();
    }
  }

  /** As {@link org.hghca.vfio.PciFunction#checkPresent}, if this process accesses the memory. */
  public static void checkPresent(MemorySegment memory, DmaAccess access) {
    checkMappable(memory, access);
    ProcessMemory.check(memory, access);
  }

  private static void checkMappable(MemorySegment memory, DmaAccess access) {
    if (!memory.isNative()) {
      throw new VfioException(
          Reason.INVALID,
          "heap memory cannot be mapped for a device: allocate it from an Arena, or from the"
              + " protection domain");
    }
    if (memory.byteSize() == 0) {
      throw new VfioException(Reason.INVALID, "a segment of 0 bytes cannot be mapped for a device");
    }
    if (!memory.scope().isAlive()) {
      throw new VfioException(
          Reason.INVALID, "memory of a closed arena cannot be mapped for a device");
    }
    if (access.writable() && memory.isReadOnly()) {
      throw new VfioException(
          Reason.INVALID, "a read-only segment cannot be mapped for a device that writes it");
    }
  }

  private Mapping add(Mapping mapping) {
    mappings.add(mapping);
    mapped.add(mapping.bytes());
    return mapping;
  }

  private void giveBack(MemorySegment slab) {
    synchronized (pages) {
      pages.giveBack(slab);
    }
  }

  /** Bytes of the pages of the open mappings. */
  public long mappedBytes() {
    return mapped.sum();
  }

  /** Number of open mappings. */
  public int mappings() {
    return mappings.size();
  }

  @Override
  public void close() {
    life.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      for (Mapping mapping : mappings) {
        try {
          mapping.pin.release();
        } catch (RuntimeException e) {
          LOG.warn(
              About.device(locator), "memory is still mapped for the device: {}", e.getMessage());
        }
      }
      mappings.clear();
      mapped.reset();
      synchronized (pages) {
        pages.close();
      }
    } finally {
      life.writeLock().unlock();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new VfioException(Reason.CLOSED, "%s is closed".formatted(locator));
    }
  }

  private final class Mapping implements DmaMapping {
    private final MemorySegment memory;
    private final DmaAccess access;
    private final AddressSpace.Pin pin;

    /** The memory to return to the pool, or null. */
    private final MemorySegment slab;

    Mapping(MemorySegment memory, DmaAccess access, AddressSpace.Pin pin, MemorySegment slab) {
      this.memory = memory;
      this.access = access;
      this.pin = pin;
      this.slab = slab;
    }

    @Override
    public MemorySegment segment() {
      return memory;
    }

    @Override
    public long iova(long offset) {
      return pin.iova(Objects.checkIndex(offset, memory.byteSize()));
    }

    @Override
    public DmaAccess access() {
      return access;
    }

    /** Of the pages that hold it. */
    private long bytes() {
      return PagePool.wholePages(memory.address() % PAGE_SIZE + memory.byteSize());
    }

    /** Synchronized so that a second close also returns after the device's last access. */
    @Override
    public synchronized void close() {
      life.readLock().lock();
      try {
        if (mappings.remove(this)) {
          mapped.add(-bytes());
          pin.release();
          if (slab != null) {
            giveBack(slab);
          }
        }
      } finally {
        life.readLock().unlock();
      }
    }
  }
}

package org.hghca.vfio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.vfio.VfioException.Reason;

/**
 * Joins the two halves of the seam inside one process: the host half of a function whose device
 * half is an {@link EmulatedFunction}. An I/O page table stands between the device and host memory.
 */
public final class InProcessFunction implements PciFunction {
  /** A thread that never runs: memory that it may touch is not confined. */
  private static final Thread STRANGER = Thread.ofPlatform().unstarted(() -> {});

  private final Locator locator;
  private final EmulatedFunction device;
  private final InProcessInterrupts interrupts;
  private final Iommu iommu = new Iommu();
  private final IovaAllocator addresses = new IovaAllocator(IovaAllocator.LOWEST, 1L << 48);
  private final Arena arena = Arena.ofShared();
  private final PagePool pages = new PagePool(arena);
  private final Set<DmaMapping> mappings = ConcurrentHashMap.newKeySet();
  private boolean closed;

  private InProcessFunction(Locator locator, EmulatedFunction device) {
    this.locator = locator;
    this.device = device;
    this.interrupts = new InProcessInterrupts(device.interruptVectors());
  }

  /** Plugs a device in and returns the host's view of it. The function closes the device. */
  public static PciFunction connect(Locator locator, EmulatedFunction device) {
    InProcessFunction function = new InProcessFunction(locator, device);
    device.attach(function.new Bus());
    return function;
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    checkOpen();
    return new ConfigurationSpace() {
      @Override
      public int read(int offset, int width) {
        checkConfiguration(offset, width);
        return device.readConfiguration(offset, width);
      }

      @Override
      public void write(int offset, int width, int value) {
        checkConfiguration(offset, width);
        device.writeConfiguration(offset, width, value);
      }
    };
  }

  private void checkConfiguration(int offset, int width) {
    checkOpen();
    if (width != 1 && width != 2 && width != 4
        || (offset & (width - 1)) != 0
        || Objects.checkIndex(offset, 4096) > 4096 - width) {
      throw new IndexOutOfBoundsException(
          "configuration access of %d bytes at 0x%x".formatted(width, offset));
    }
  }

  @Override
  public MmioRegion region(int bar) {
    checkOpen();
    long size = bar >= 0 && bar < 6 ? device.regionSize(bar) : 0;
    if (size == 0) {
      throw new VfioException(Reason.INVALID, "%s has no BAR%d".formatted(locator, bar));
    }
    return MmioRegion.trapped(
        size,
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            return device.read(bar, offset, width);
          }

          @Override
          public void write(long offset, int width, long value) {
            device.write(bar, offset, width, value);
          }
        });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    if (bytes <= 0) {
      throw new VfioException(Reason.INVALID, "cannot allocate %d bytes".formatted(bytes));
    }
    MemorySegment slab;
    synchronized (this) {
      checkOpen();
      slab = pages.take(bytes);
    }
    MemorySegment memory = slab.asSlice(0, PagePool.wholePages(bytes));
    return insert(memory, DmaAccess.READ_WRITE, () -> pages.giveBack(slab));
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    checkMappable(memory, access);
    return insert(memory, access, () -> {});
  }

  private void checkMappable(MemorySegment memory, DmaAccess access) {
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
          Reason.INVALID, "a read-only segment cannot be mapped for a device that is to write it");
    }
    Thread here = Thread.currentThread();
    boolean confined = !memory.isAccessibleBy(STRANGER);
    if (confined && !(device.isInline() && memory.isAccessibleBy(here))) {
      throw new VfioException(
          Reason.INVALID,
          "memory confined to %s cannot be mapped: the software device of %s touches it from %s;"
                  .formatted(
                      memory.isAccessibleBy(here)
                          ? "thread '" + here.getName() + "'"
                          : "another thread",
                      locator,
                      device.isInline() ? "the calling thread" : "its own thread")
              + " use Arena.ofShared(), Arena.ofAuto() or the protection domain's memory");
    }
  }

  private DmaMapping insert(MemorySegment memory, DmaAccess access, Runnable release) {
    long inPage = memory.address() & DmaMapping.PAGE_SIZE - 1;
    long base = addresses.allocate(inPage + memory.byteSize());
    Mapping mapping = new Mapping(memory, access, base, base + inPage, release);
    synchronized (this) {
      if (closed) {
        addresses.free(base);
        throw closedException();
      }
      iommu.map(mapping.iova, memory, access);
      mappings.add(mapping);
    }
    return mapping;
  }

  @Override
  public Interrupts interrupts() {
    checkOpen();
    return interrupts;
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return iommu.faults();
  }

  @Override
  public long dmaFaultCount() {
    return iommu.faultCount();
  }

  @Override
  public boolean canReset() {
    return device.canReset();
  }

  @Override
  public void reset() {
    checkOpen();
    if (!device.canReset()) {
      throw new VfioException(Reason.UNSUPPORTED, "%s has no reset".formatted(locator));
    }
    device.reset();
  }

  /** How many mappings are left, for those who check that nothing leaks. */
  public int mappings() {
    return mappings.size();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    device.close();
    synchronized (this) {
      iommu.clear();
      mappings.clear();
    }
    arena.close();
  }

  private synchronized void checkOpen() {
    if (closed) {
      throw closedException();
    }
  }

  private VfioException closedException() {
    return new VfioException(Reason.CLOSED, "%s is closed".formatted(locator));
  }

  private final class Mapping implements DmaMapping {
    private final MemorySegment memory;
    private final DmaAccess access;
    private final long base;
    private final long iova;
    private final Runnable release;

    Mapping(MemorySegment memory, DmaAccess access, long base, long iova, Runnable release) {
      this.memory = memory;
      this.access = access;
      this.base = base;
      this.iova = iova;
      this.release = release;
    }

    @Override
    public MemorySegment segment() {
      return memory;
    }

    @Override
    public long iova(long offset) {
      return iova + Objects.checkIndex(offset, memory.byteSize());
    }

    @Override
    public DmaAccess access() {
      return access;
    }

    @Override
    public void close() {
      synchronized (InProcessFunction.this) {
        if (mappings.remove(this)) {
          iommu.unmap(iova);
          addresses.free(base);
          release.run();
        }
      }
    }
  }

  private final class Bus implements DeviceBus {
    @Override
    public boolean read(long iova, MemorySegment destination, long offset, long length) {
      return iommu.read(iova, destination, offset, length);
    }

    @Override
    public boolean write(long iova, MemorySegment source, long offset, long length) {
      return iommu.write(iova, source, offset, length);
    }

    @Override
    public void raise(int vector) {
      interrupts.raise(vector);
    }
  }
}

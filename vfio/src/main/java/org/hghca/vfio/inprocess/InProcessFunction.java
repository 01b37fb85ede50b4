package org.hghca.vfio.inprocess;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.AddressSpace;
import org.hghca.vfio.dma.DeviceMemory;
import org.hghca.vfio.dma.Iommu;
import org.hghca.vfio.dma.IovaAllocator;
import org.hghca.vfio.dma.IovaRange;

/**
 * Joins the two halves of the seam inside one process: the host half of a function whose device
 * half is an {@link EmulatedFunction}. An I/O page table is between the device and host memory.
 */
public final class InProcessFunction implements PciFunction {
  /** A thread that never runs: memory that it may access is not confined. */
  private static final Thread STRANGER = Thread.ofPlatform().unstarted(() -> {});

  private final Locator locator;
  private final EmulatedFunction device;
  private final InProcessInterrupts interrupts;
  private final Iommu iommu = new Iommu();
  private final IovaAllocator addresses =
      new IovaAllocator(List.of(new IovaRange(0, (1L << 48) - 1)));
  private final DeviceMemory memory;
  private boolean closed;

  private InProcessFunction(Locator locator, EmulatedFunction device) {
    this.locator = locator;
    this.device = device;
    this.interrupts = new InProcessInterrupts(device.interruptVectors());
    this.memory = new DeviceMemory(locator, new Space(), memory());
  }

  /** Plugs a device in and returns the host's view of it. The function closes the device. */
  public static InProcessFunction connect(Locator locator, EmulatedFunction device) {
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
    ConfigurationSpace.checkAccess(offset, width);
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

          @Override
          public boolean isPosted() {
            return false;
          }
        });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    checkOpen();
    return memory.allocate(bytes);
  }

  @Override
  public DmaMapping map(MemorySegment segment, DmaAccess access) {
    checkOpen();
    return memory.map(segment, access);
  }

  @Override
  public DmaMapping mapOwned(MemorySegment segment, DmaAccess access) {
    checkOpen();
    return memory.mapOwned(segment, access);
  }

  @Override
  public void checkPresent(MemorySegment segment, DmaAccess access) {
    DeviceMemory.checkPresent(segment, access);
  }

  /** The device accesses only the bytes of the segments, not the rest of their pages. */
  private final class Space implements AddressSpace {
    @Override
    public Pin pin(MemorySegment segment, DmaAccess access) {
      checkConfinement(segment);
      return pin(segment, access, false);
    }

    @Override
    public Pin pinOwned(MemorySegment segment, DmaAccess access) {
      return pin(segment, access, true);
    }

    private Pin pin(MemorySegment segment, DmaAccess access, boolean stays) {
      long inPage = segment.address() & DmaMapping.PAGE_SIZE - 1;
      long base = addresses.allocate(inPage + segment.byteSize());
      long iova = base + inPage;
      iommu.map(new DmaWindow(iova, segment, access, stays));
      return new Pin() {
        @Override
        public long iova(long offset) {
          return iova + offset;
        }

        @Override
        public void release() {
          iommu.unmap(iova);
          addresses.free(base);
        }
      };
    }
  }

  private void checkConfinement(MemorySegment memory) {
    Thread here = Thread.currentThread();
    boolean confined = !memory.isAccessibleBy(STRANGER);
    if (confined && !(device.isInline() && memory.isAccessibleBy(here))) {
      throw new VfioException(
          Reason.INVALID,
          "memory confined to %s cannot be mapped: the software device of %s accesses it from %s;"
                  .formatted(
                      memory.isAccessibleBy(here)
                          ? "thread '" + here.getName() + "'"
                          : "another thread",
                      locator,
                      device.isInline() ? "the calling thread" : "its own thread")
              + " use Arena.ofShared(), Arena.ofAuto() or the protection domain's memory");
    }
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
  public long mappedBytes() {
    return memory.mappedBytes();
  }

  @Override
  public Map<String, Long> portCounters() {
    return device.portCounters();
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

  /** Number of open mappings, to check for leaks. */
  public int mappings() {
    return memory.mappings();
  }

  @Override
  public void idle() {
    device.idle();
  }

  @Override
  public void beforeSleep(BooleanSupplier happened) {
    device.beforeSleep(happened);
  }

  @Override
  public void happened() {
    device.happened();
  }

  @Override
  public void beginPolling() {
    device.beginPolling();
  }

  @Override
  public void endPolling() {
    device.endPolling();
  }

  @Override
  public int idleEvery() {
    return device.idleEvery();
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
    memory.close();
  }

  private synchronized void checkOpen() {
    if (closed) {
      throw new VfioException(Reason.CLOSED, "%s is closed".formatted(locator));
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

    @Override
    public void raiseHere(int vector) {
      interrupts.raiseHere(vector);
    }

    @Override
    public boolean mayWait() {
      return false;
    }

    @Override
    public long beginRun() {
      return iommu.beginRun();
    }

    @Override
    public void endRun() {
      iommu.endRun();
    }

    /** None of memory whose accesses can fail: of one thread, or of a file. */
    @Override
    public DmaWindow window(long iova) {
      DmaWindow window = iommu.window(iova);
      return window != null
              && window.memory().isAccessibleBy(STRANGER)
              && !window.memory().isMapped()
          ? window
          : null;
    }
  }
}

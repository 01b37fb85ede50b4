package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.DeviceMemory;
import org.hghca.vfio.linux.MemoryFile;

/** A function that the kernel's VFIO has given to this process. */
final class KernelFunction implements PciFunction {
  private static final ConditionLog LOG = ConditionLog.of(KernelFunction.class);

  private final KernelSystem system;
  private final Locator locator;
  private final KernelOptions options;
  private final VfioEntry entry;
  private final DeviceFile device;
  private final ConfigurationSpace configuration;
  private final Bars bars;
  private final DeviceMemory memory;
  private final MemorySource source;
  private final Reset reset;
  private final UndoStack undo;
  private volatile KernelInterrupts interrupts;
  private volatile boolean closed;

  /** Why the function was lost, or null. */
  private volatile String loss;

  private KernelFunction(
      KernelSystem system,
      Locator locator,
      String address,
      KernelOptions options,
      VfioEntry entry,
      UndoStack undo) {
    this.system = system;
    this.locator = locator;
    this.options = options;
    this.entry = entry;
    this.device = entry.device();
    this.undo = undo;
    this.configuration = new Configuration(RegionInfo.of(device, VfioAbi.CONFIG_REGION).offset());
    this.source = new MemoryFile(system.calls());
    this.bars = new Bars(system.calls(), device, locator, KernelRelease.of(system.machine()));
    undo.add(bars::close);
    this.memory = new DeviceMemory(locator, entry.addresses(), source);
    undo.add(memory::close);
    undo.add(this::stopInterrupts);
    undo.add(this::stopDma);
    this.reset = Reset.of(system, entry, address, flags());
    // The previous owner may have left it on; the driver switches it on when it is ready.
    stopDma();
  }

  /**
   * Creates a function after its descriptor was opened.
   *
   * @param address its address, as sysfs writes it
   * @param undo undoes all previous steps, now or when the function is closed
   */
  static KernelFunction of(
      KernelSystem system,
      Locator locator,
      String address,
      KernelOptions options,
      VfioEntry entry,
      UndoStack undo) {
    return new KernelFunction(system, locator, address, options, entry, undo);
  }

  private int flags() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info =
          InfoCall.ask(
              arena,
              structure -> device.ioctl(VfioAbi.DEVICE_GET_INFO, structure),
              VfioAbi.DeviceInfo.SIZE,
              "cannot query the kind of %s".formatted(locator.name()));
      int flags = info.get(JAVA_INT, VfioAbi.FLAGS);
      if ((flags & VfioAbi.DeviceInfo.PCI) == 0) {
        throw new VfioException(
            Reason.INVALID, "VFIO does not report %s as a PCI function".formatted(locator));
      }
      return flags;
    }
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    checkOpen();
    return configuration;
  }

  private final class Configuration implements ConfigurationSpace {
    private final long base;

    Configuration(long base) {
      this.base = base;
    }

    @Override
    public int read(int offset, int width) {
      ConfigurationSpace.checkAccess(offset, width);
      return (int) device.read(base + offset, width);
    }

    @Override
    public void write(int offset, int width, int value) {
      ConfigurationSpace.checkAccess(offset, width);
      device.write(base + offset, width, value);
    }
  }

  @Override
  public MmioRegion region(int bar) {
    checkOpen();
    return bars.region(bar);
  }

  @Override
  public DmaMapping allocate(long bytes) {
    checkPresent();
    return memory.allocate(bytes);
  }

  @Override
  public DmaMapping map(MemorySegment segment, DmaAccess access) {
    checkPresent();
    return memory.map(segment, access);
  }

  @Override
  public MemorySource memory() {
    return source;
  }

  @Override
  public synchronized Interrupts interrupts() {
    checkOpen();
    if (interrupts == null) {
      checkPresent();
      interrupts =
          new KernelInterrupts(
              system.calls(),
              device,
              locator,
              KernelInterrupts.kinds(options.interrupts()),
              this::lost);
    }
    return interrupts;
  }

  @Override
  public String iommuMode() {
    return entry.mode().word();
  }

  /** The kernel's VFIO does not. */
  @Override
  public boolean reportsDmaFaults() {
    return false;
  }

  /** None: the kernel reports them only in its log. */
  @Override
  public List<DmaFault> dmaFaults() {
    return List.of();
  }

  @Override
  public long mappedBytes() {
    return memory.mappedBytes();
  }

  @Override
  public boolean canReset() {
    return reset.exists();
  }

  @Override
  public void reset() {
    checkPresent();
    if (!reset.exists()) {
      throw new VfioException(Reason.UNSUPPORTED, "%s has no reset".formatted(locator));
    }
    reset.run();
  }

  /**
   * Releases a lost function: its removal waits for that. Memory stays until the function is
   * closed, for threads that still read it.
   */
  private void lost(String cause) {
    // Without the lock: a close that holds it may wait for the thread that reports the loss.
    loss = cause;
    LOG.warn(About.device(locator), "the function is lost: {}", cause);
    stopDma();
    interrupts.switchOff();
    bars.lose();
    entry.leave();
  }

  private void stopDma() {
    if (configuration.vendorId() != 0xffff) {
      configuration.busMaster(false);
    }
  }

  private void stopInterrupts() {
    if (interrupts != null) {
      interrupts.close();
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      undo.close();
    }
  }

  private void checkPresent() {
    checkOpen();
    String cause = loss;
    if (cause != null) {
      throw new VfioException(Reason.CLOSED, cause);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new VfioException(Reason.CLOSED, "%s is closed".formatted(locator));
    }
  }
}

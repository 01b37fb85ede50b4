package org.hghca.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.hca.Card;
import org.hghca.model.hca.Faults;
import org.hghca.model.hca.Hca;
import org.hghca.model.hca.MsixRegion;
import org.hghca.model.hca.StepBudget;
import org.hghca.model.rtl.Defect;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.transport.TransportCounters;
import org.hghca.vfio.ConfigurationRegisters;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.InProcessFunction;
import org.hghca.vfio.LinkAddress;
import org.hghca.wire.EthernetPort;

/**
 * The software HCA: a PCI function that behaves as the interface document says, or as the makers'
 * RTL does with all that breaks it. Thread-safe.
 *
 * <p>It is part of a {@link Simulation}, which does its work and keeps its time.
 */
public final class SoftwareHca implements EmulatedFunction {
  /**
   * The ids of the real card stand inside a vendor's IP block and are in no document. These are
   * placeholders: vendor 1234h, which is assigned to nobody and is what emulators use, and a device
   * id that means nothing.
   */
  private static final int VENDOR_ID = 0x1234;

  private static final int DEVICE_ID = 0x4843;

  /** Class network controller would be 02h; 0207h is its InfiniBand subclass. */
  private static final int CLASS_CODE = 0x02_0700;

  private final String name;
  private final LinkAddress address;
  private final boolean canReset;
  private final int vectors;
  private final long[] barSizes;
  private final Simulation simulation;
  private final Runnable onClose;
  private final Faults faults = new Faults();
  private final CardBus bus = new CardBus();
  private final EthernetPort port;
  private final Card hca;
  private final ConfigurationRegisters configuration;
  private final MsixRegion interruptTable;
  private Cable cable;
  private boolean closed;

  /** The host's side, where it is in this process. */
  private volatile InProcessFunction function;

  /**
   * Puts an HCA into a simulation.
   *
   * @param plug where its port is plugged in
   * @param defects of the first RTL that it plays
   * @param seed chooses what is not known of the card
   * @param onClose called once when the HCA is closed
   */
  SoftwareHca(
      String name,
      HardwareProfile profile,
      LinkAddress address,
      Simulation simulation,
      Optional<Plug> plug,
      boolean canReset,
      boolean interrupts,
      Set<Defect> defects,
      long seed,
      Runnable onClose) {
    this.name = name;
    this.address = address;
    this.canReset = canReset;
    this.vectors = interrupts ? Hca.VECTORS : 0;
    this.barSizes =
        new long[] {Bar.BAR0_SIZE, 0, Bar.BAR2_SIZE, 0, vectors > 0 ? MsixRegion.BYTES : 0, 0};
    this.interruptTable = new MsixRegion(vectors);
    this.simulation = simulation;
    this.onClose = onClose;
    this.port = new EthernetPort(address.mac(), simulation.packets());
    this.hca =
        profile == HardwareProfile.S
            ? new Hca(profile, port, faults, vectors)
            : new RtlCard(profile, defects, port, faults, seed);
    this.configuration = configuration();
    simulation.join(this, plug);
  }

  private ConfigurationRegisters configuration() {
    ConfigurationRegisters.Builder builder =
        ConfigurationRegisters.of(VENDOR_ID, DEVICE_ID, CLASS_CODE)
            .region(Bar.BAR0, Bar.BAR0_SIZE)
            .region(Bar.BAR2, Bar.BAR2_SIZE)
            .serialNumber(address.mac())
            .onBusMaster(hca::busMaster);
    if (vectors > 0) {
      builder
          .region(MsixRegion.BAR, MsixRegion.BYTES)
          .interrupts(vectors, MsixRegion.BAR, MsixRegion.TABLE, MsixRegion.PENDING);
    }
    if (canReset) {
      builder.onReset(this::reset);
    }
    return builder.build();
  }

  /** The name in its locator. */
  public String name() {
    return name;
  }

  /** The addresses of its port. */
  public LinkAddress address() {
    return address;
  }

  public Simulation simulation() {
    return simulation;
  }

  /** The cable that its port is plugged into. */
  public Optional<Cable> cable() {
    return Optional.ofNullable(cable);
  }

  /**
   * What went wrong, or should not have been done to it: accesses to memory that the host refused,
   * doorbells and stores that were dropped, completions that were lost. Oldest first; the newest 64
   * are kept.
   */
  public List<String> faults() {
    return faults.list();
  }

  /**
   * What was done to it that breaks the card as its makers built it, oldest first, each with the
   * number of its line in the facts; always empty on a card by the document.
   */
  public List<String> hazards() {
    return hca.hazards();
  }

  /**
   * Lets doorbells wait in the FIFO in front of the send side, as they do while that is busy, or no
   * longer; a reset ends it as well.
   *
   * @throws UnsupportedOperationException if it is a card by the document, which has no FIFO
   */
  public void holdDoorbells(boolean held) {
    simulation.exclusively(() -> hca.holdDoorbells(held));
    simulation.kick();
  }

  /**
   * Lets so many packets of requests leave and then none, as when host memory does not answer the
   * card's reads of payload; replies are sent nevertheless. A reset ends it as well.
   *
   * @param packets 0 and more; -1 lets all go
   * @throws UnsupportedOperationException if it is no card of the first RTL
   */
  public void stallAfter(int packets) {
    simulation.exclusively(() -> hca.stallAfter(packets));
    simulation.kick();
  }

  /** How many faults there were. */
  public long faultCount() {
    return faults.count();
  }

  /** What it has done since it was made. */
  public HcaCounters counters() {
    TransportCounters transport = hca.transportCounters();
    return new HcaCounters(
        hca.commands(),
        hca.doorbells(),
        hca.completions(),
        hca.events(),
        hca.interrupts(),
        hca.eventOverruns(),
        transport.packetsSent,
        transport.packetsReceived,
        transport.packetsDropped,
        transport.queueKeyViolations,
        port.damaged(),
        transport.retries,
        transport.timeouts,
        transport.naksSent,
        transport.naksReceived,
        transport.rnrNaksSent,
        transport.rnrNaksReceived,
        transport.duplicates,
        faults.count());
  }

  /** How many DMA mappings its host has; 0 when that is not in this process. */
  public int dmaMappings() {
    InProcessFunction host = function;
    return host == null ? 0 : host.mappings();
  }

  void connectedTo(InProcessFunction host) {
    function = host;
  }

  /** Pages of host memory that MAP_ICM has given it. */
  public int icmPages() {
    return hca.icmPages();
  }

  @Override
  public void attach(DeviceBus host) {
    bus.attach(host);
    hca.attach(bus);
  }

  @Override
  public long regionSize(int bar) {
    return barSizes[bar];
  }

  @Override
  public long read(int bar, long offset, int width) {
    return bar == MsixRegion.BAR
        ? interruptTable.read(offset, width)
        : hca.read(bar, offset, width);
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    if (bar == MsixRegion.BAR) {
      interruptTable.write(offset, width, value);
      return;
    }
    if (hca.isReset(bar, offset, width, value)) {
      // Not queued: whatever is written behind it must find the card reset.
      simulation.exclusively(hca::reset);
      return;
    }
    boolean queued = false;
    simulation.beginWrite();
    try {
      queued = hca.write(bar, offset, width, value);
    } finally {
      simulation.endWrite(this, queued, bar == Bar.BAR0);
    }
  }

  @Override
  public int readConfiguration(int offset, int width) {
    return configuration.read(offset, width);
  }

  @Override
  public void writeConfiguration(int offset, int width, int value) {
    configuration.write(offset, width, value);
  }

  @Override
  public int interruptVectors() {
    return vectors;
  }

  @Override
  public boolean isInline() {
    return simulation.isInline();
  }

  @Override
  public boolean canReset() {
    return canReset;
  }

  /** As a function-level reset does, it also takes bus mastering away. */
  @Override
  public void reset() {
    simulation.exclusively(hca::reset);
    bus.forget();
    configuration.reset();
    interruptTable.reset();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    hca.unplug();
    simulation.leave(this);
    bus.forget();
    onClose.run();
  }

  boolean step(long now, StepBudget budget) {
    return hca.step(now, budget);
  }

  boolean stepCable(long now) {
    return cable != null && cable.step(now);
  }

  /** Whether it is an HCA, or at the other end of its cable. Under the simulation's lock. */
  boolean isNear(SoftwareHca other) {
    return this == other || cable != null && cable == other.cable;
  }

  /** Whether a step may have to wait for another process, which has the memory. */
  boolean mayWait() {
    return bus.mayWait();
  }

  /** Tells the host of the interrupts that were raised in steps. Under no lock. */
  void tellInterrupts() {
    bus.tell();
  }

  long bytesSent() {
    return port.bytesSent();
  }

  boolean hasArrived() {
    return port.hasArrived();
  }

  void watchPort() {
    hca.watchPort();
  }

  long nextDeadline() {
    return hca.nextDeadline();
  }

  boolean hasRegisterWrites() {
    return hca.hasWrites();
  }

  void failed(Throwable cause) {
    faults.record("internal failure: " + cause);
    hca.failed();
  }

  void plug(Cable into) {
    into.plug(port);
    cable = into;
  }

  boolean isAt(EthernetPort end) {
    return port == end;
  }

  void unplug() {
    cable.unplug(port);
    cable = null;
  }

  /** Nobody fetches what has arrived any longer. */
  void dropArrived() {
    port.drain();
  }
}

package org.hghca.model;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.hghca.model.card.Card;
import org.hghca.model.card.CardCounters;
import org.hghca.model.card.Faults;
import org.hghca.model.card.MsixRegion;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.transport.TransportCounters;
import org.hghca.vfio.ConfigurationRegisters;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.PortTap;
import org.hghca.wire.capture.CaptureFile;
import org.hghca.wire.link.LinkCounters;

/**
 * A PCI function with a network port in software: a {@link Card}, such as one that behaves as the
 * interface document says, or like the makers' RTL, including its defects. Thread-safe.
 *
 * <p>It belongs to a {@link Simulation}, which does its work and provides its time.
 */
public final class SoftwareHca implements EmulatedFunction {
  /** The region whose writes may start a command. */
  private static final int COMMANDS = 0;

  private final String name;
  private final LinkAddress address;
  private final boolean canReset;
  private final int vectors;
  private final Simulation simulation;
  private final Runnable onClose;
  private final Faults faults = new Faults();
  private final CardBus bus = new CardBus();
  private final EthernetPort port;
  private final Card hca;
  private final SimulatedCard driven;
  private final ConfigurationRegisters configuration;
  private final MsixRegion interruptTable;

  /** What captures its packets; used and changed under the simulation's lock. */
  private final List<CaptureFile> captures = new ArrayList<>();

  private boolean closed;

  /** The host's side, if it is in this process. */
  private volatile InProcessFunction function;

  /**
   * Puts an HCA into a simulation.
   *
   * @param maker makes its card
   * @param plug the cable of its port
   * @param onClose called once when the HCA is closed
   */
  SoftwareHca(
      String name,
      CardMaker maker,
      LinkAddress address,
      Simulation simulation,
      Optional<Plug> plug,
      boolean canReset,
      boolean interrupts,
      Runnable onClose) {
    this.name = name;
    this.address = address;
    this.canReset = canReset;
    this.simulation = simulation;
    this.onClose = onClose;
    this.port = new EthernetPort(address.mac(), simulation.packets());
    this.hca = maker.make(port, faults, interrupts);
    this.driven = new SimulatedCard(name, hca, port, bus, faults);
    this.vectors = interrupts ? hca.identity().vectors() : 0;
    this.interruptTable = new MsixRegion(vectors);
    this.configuration = configuration();
    try {
      simulation.join(this, driven, plug);
    } catch (RuntimeException | Error e) {
      plug.ifPresent(SoftwareHca::close);
      throw e;
    }
    try {
      driven.begin();
    } catch (RuntimeException | Error e) {
      simulation.leave(this, driven);
      throw e;
    }
  }

  /** The plug was not put in. */
  private static void close(Plug plug) {
    if (plug instanceof Plug.IntoNetwork into) {
      into.link().close();
    }
  }

  private ConfigurationRegisters configuration() {
    ConfigurationRegisters.Builder builder =
        hca.identity()
            .registers(new Regions())
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
    return driven.segment() instanceof Cable cable ? Optional.of(cable) : Optional.empty();
  }

  /** The hub that its port is plugged into. */
  public Optional<Hub> hub() {
    return driven.segment() instanceof Hub hub ? Optional.of(hub) : Optional.empty();
  }

  /** What its link to the network outside of this process did, where it has one. */
  public Optional<LinkCounters> linkCounters() {
    return driven.linkCounters();
  }

  /**
   * Faults: refused memory accesses, dropped doorbells and stores, lost completions. Oldest first;
   * the newest 64 are kept.
   */
  public List<String> faults() {
    return faults.list();
  }

  /**
   * Uses that stop or corrupt the makers' card, oldest first, each with the number of its line in
   * the list of facts; always empty on a card that follows the document.
   */
  public List<String> hazards() {
    return hca.hazards();
  }

  /**
   * Holds or releases doorbells in the FIFO before the send side, as if that were busy; a reset
   * also releases them. An inline simulation goes on with the next step, so that several cards can
   * be released for the same one.
   *
   * @throws UnsupportedOperationException if the card follows the document, which has no FIFO
   */
  public void holdDoorbells(boolean held) {
    RtlCard card = rtl("FIFO of doorbells");
    simulation.exclusively(() -> card.holdDoorbells(held));
    if (!simulation.isInline()) {
      simulation.kick();
    }
  }

  /**
   * Limits the number of request packets that leave, as if host memory did not answer the card's
   * payload reads; replies are still sent. A reset also removes the limit.
   *
   * @param packets 0 and more; -1 lets all go
   * @throws UnsupportedOperationException if it is no card of the first RTL
   */
  public void stallAfter(int packets) {
    RtlCard card = rtl("stall");
    simulation.exclusively(() -> card.stallAfter(packets));
    simulation.kick();
  }

  private RtlCard rtl(String what) {
    if (hca instanceof RtlCard card) {
      return card;
    }
    throw new UnsupportedOperationException("this card has no " + what);
  }

  /** Number of faults. */
  public long faultCount() {
    return faults.count();
  }

  /** Returns between two steps of its simulation: never, if one of them does not end. */
  public void awaitStep() {
    simulation.exclusively(() -> {});
  }

  /** Its counters since its creation. */
  public HcaCounters counters() {
    CardCounters card = hca.counters();
    TransportCounters transport = card.transport();
    return new HcaCounters(
        card.commands(),
        card.doorbells(),
        card.completions(),
        card.events(),
        card.interrupts(),
        card.eventOverruns(),
        transport.packetsSent,
        transport.packetsReceived,
        transport.drops.total(),
        transport.drops.of(DropCause.QUEUE_KEY),
        port.damaged(),
        transport.retries,
        transport.timeouts,
        transport.naksSent,
        transport.naksReceived,
        transport.rnrNaksSent,
        transport.rnrNaksReceived,
        transport.congestionMarks,
        transport.notificationsSent,
        transport.notificationsReceived,
        transport.duplicates,
        transport.psnWraps,
        faults.count(),
        transport.drops.byCause());
  }

  @Override
  public Map<String, Long> portCounters() {
    return PortCounters.of(counters(), linkCounters());
  }

  /** Number of DMA mappings of its host; 0 if the host is not in this process. */
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
    return bar == MsixRegion.BAR
        ? vectors > 0 ? MsixRegion.BYTES : 0
        : hca.identity().regionSize(bar);
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
      // Not queued: later writes must find the card reset.
      simulation.exclusively(hca::reset);
      return;
    }
    boolean queued = false;
    simulation.beginWrite();
    try {
      queued = hca.write(bar, offset, width, value);
    } finally {
      simulation.endWrite(driven, queued, bar == COMMANDS);
    }
  }

  /** The regions, for software that reaches them by configuration space. */
  private final class Regions implements ConfigurationRegisters.Window {
    @Override
    public long read(int bar, long offset, int width) {
      return offset + width <= regionSize(bar) ? SoftwareHca.this.read(bar, offset, width) : 0;
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
      if (offset + width <= regionSize(bar)) {
        SoftwareHca.this.write(bar, offset, width, value);
      }
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

  /** Like a function-level reset, it also disables bus mastering. */
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
    simulation.leave(this, driven);
    driven.close();
    CaptureFile.closeAll(endCaptures());
    bus.forget();
    onClose.run();
  }

  /** Ends all captures; whoever began one finds it ended, and closes it at the same time. */
  private List<CaptureFile> endCaptures() {
    List<CaptureFile> ending = new ArrayList<>();
    simulation.exclusively(
        () -> {
          port.tap(PortTap.NONE);
          ending.addAll(captures);
          captures.clear();
        });
    return ending;
  }

  /** A thread that waits for a completion reads what has come by the network. */
  @Override
  public void idle() {
    driven.idle();
  }

  @Override
  public void beforeSleep(BooleanSupplier happened) {
    driven.beforeSleep(happened);
  }

  @Override
  public void happened() {
    driven.happened();
  }

  @Override
  public void beginPolling() {
    driven.beginPolling();
  }

  @Override
  public void endPolling() {
    driven.endPolling();
  }

  @Override
  public int idleEvery() {
    return driven.idleEvery();
  }

  /** From now on the simulation's thread does not sleep until this HCA is closed. */
  void spin() {
    driven.spin();
    simulation.kick();
  }

  /** Writes what its port sends and receives to a file from now on. */
  void capture(CaptureFile into) {
    simulation.exclusively(
        () -> {
          captures.add(into);
          port.tap(PortTaps.of(captures));
        });
  }

  /**
   * Writes what its port sends and receives to a channel from now on.
   *
   * @param to is closed at the end
   * @param called what it is, for the log
   */
  CaptureFile capture(WritableByteChannel to, String called) throws IOException {
    CaptureFile into =
        CaptureFile.to(to, called, name, address.mac(), simulation.clock().ofCaptures());
    capture(into);
    return into;
  }

  /** Ends a capture, which may have ended with the HCA. */
  void endCapture(CaptureFile ending) {
    simulation.exclusively(
        () -> {
          if (captures.remove(ending)) {
            port.tap(PortTaps.of(captures));
          }
        });
    ending.close();
  }

  /** What its simulation drives. */
  Participant participant() {
    return driven;
  }

  boolean isAt(EthernetPort end) {
    return port == end;
  }
}

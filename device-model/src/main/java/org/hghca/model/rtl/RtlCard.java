package org.hghca.model.rtl;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.card.Card;
import org.hghca.model.card.CardCounters;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.card.PciIdentity;
import org.hghca.model.card.StepBudget;
import org.hghca.model.hca.Hca;
import org.hghca.vfio.DeviceBus;
import org.hghca.wire.EthernetPort;

/**
 * The card of the makers' RTL behind its PCI function. It has no events and no interrupts, and no
 * register resets it: only a function-level reset does, which also clears all ring positions.
 */
public final class RtlCard implements Card {
  private final Faults faults;
  private final Hazards hazards = new Hazards();
  private final HostMemory host;
  private final Bar0 registers = new Bar0(hazards);
  private final Doorbells doorbells;
  private final TranslationUnit translation;
  private final ContextManager contexts;
  private final RtlCommandUnit commands;
  private final DataPath engine;

  /** Commands that were started but not yet processed. */
  private final AtomicInteger started = new AtomicInteger();

  /** Whether a doorbell came in since the last step began. */
  private volatile boolean rung;

  private long commandCount;

  /**
   * @param profile R1 or R2
   * @param engine makes the data path of that profile
   */
  public RtlCard(
      HardwareProfile profile,
      EthernetPort port,
      Faults faults,
      Function<CardParts, DataPath> engine) {
    this.faults = faults;
    this.host = new HostMemory(faults, this::failed);
    this.doorbells = new Doorbells(faults, hazards);
    this.translation = new TranslationUnit(profile, host, hazards);
    this.contexts = new ContextManager(profile, host, hazards);
    this.commands = new RtlCommandUnit(profile, host, contexts, translation, hazards);
    this.engine = engine.apply(new CardParts(contexts, translation, doorbells, port, hazards));
  }

  @Override
  public PciIdentity identity() {
    return Hca.IDENTITY;
  }

  @Override
  public void attach(DeviceBus bus) {
    host.attach(bus);
  }

  @Override
  public void busMaster(boolean on) {
    host.enable(on);
  }

  @Override
  public long read(int bar, long offset, int width) {
    if (bar == Bar.BAR0) {
      return registers.read(offset, width);
    }
    hazards.strike("12.11", "read of BAR2+0x%x is never answered".formatted(offset));
    return Bar0.ALL_ONES;
  }

  /** None: the reset register's pulse is not connected. */
  @Override
  public boolean isReset(int bar, long offset, int width, long value) {
    return false;
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    if (bar == Bar.BAR2) {
      return !registers.isBlocked() && ringDoorbell((int) offset % Bar.UAR_PAGE_SIZE, width, value);
    }
    boolean start = registers.write(offset, width, value);
    if (start) {
      started.getAndIncrement();
    }
    return start;
  }

  private boolean ringDoorbell(int offset, int width, long value) {
    if (offset != Doorbell.SEND_QUEUE || width < Integer.BYTES) {
      if (offset != Doorbell.CQ_ARM && offset != Doorbell.EQ_ARM) {
        faults.record(
            "a store of %d bytes to offset 0x%x of a UAR page is dropped".formatted(width, offset));
      }
      return false;
    }
    // Half a doorbell is interpreted as a whole one with a zero upper half.
    if (!doorbells.add(width == Long.BYTES ? value : value & 0xffff_ffffL)) {
      return false;
    }
    rung = true;
    return true;
  }

  @Override
  public boolean hasWrites() {
    return rung || started.get() > 0;
  }

  @Override
  public boolean step(long now, StepBudget budget) {
    rung = false;
    boolean worked = engine.step(now, budget.most());
    if (!budget.commands()) {
      return worked;
    }
    for (int waiting = started.getAndSet(0); waiting > 0; waiting--) {
      commandCount++;
      commands.execute(registers);
      worked = true;
    }
    return worked;
  }

  /** Nothing: the card has no events. */
  @Override
  public void watchPort() {}

  @Override
  public void failed() {}

  @Override
  public void reset() {
    started.set(0);
    rung = false;
    registers.reset();
    doorbells.reset();
    commands.reset();
    contexts.reset();
    translation.reset();
    engine.reset();
  }

  /** Never: the card has no timers. */
  @Override
  public long nextDeadline() {
    return Long.MAX_VALUE;
  }

  /** Holds or releases doorbells in their FIFO, for a test. Between steps only. */
  public void holdDoorbells(boolean held) {
    doorbells.hold(held);
    rung = true;
  }

  /**
   * Limits the number of request packets that leave, for a test; see {@link DataPath#stallAfter}.
   * Between steps only.
   *
   * @throws UnsupportedOperationException when the data path does not model that
   */
  public void stallAfter(int packets) {
    engine.stallAfter(packets);
    rung = true;
  }

  @Override
  public CardCounters counters() {
    return new CardCounters(
        commandCount, doorbells.count(), engine.completions(), 0, 0, 0, engine.counters());
  }

  @Override
  public int icmPages() {
    return contexts.icmPages() + translation.icmPages();
  }

  @Override
  public List<String> hazards() {
    return hazards.list();
  }
}

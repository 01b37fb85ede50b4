package org.hghca.tools.raw;

import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.ForwardingMapping;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A function whose commands are recorded by a {@link CommandTap}, whose doorbells pass {@link
 * Doorbells}, and whose memory is known by its bus addresses. Registers behind it are never plain
 * memory, so that each access is a call. Thread-safe.
 */
public final class TappedFunction extends ForwardingFunction {
  private final PciFunction untapped;
  private final MappedMemory memory = new MappedMemory();
  private CommandTap tap;
  private Doorbells doorbells;

  /** A function that nothing else drives. */
  public TappedFunction(PciFunction function) {
    super(function);
    this.untapped = function;
  }

  /** The function without what records and blocks accesses. */
  public PciFunction untapped() {
    return untapped;
  }

  /** What is in front of BAR0. */
  public synchronized CommandTap tap() {
    if (tap == null) {
      tap = new CommandTap(super.region(Bar.BAR0), memory);
    }
    return tap;
  }

  /** What is in front of BAR2. */
  public synchronized Doorbells doorbells() {
    if (doorbells == null) {
      doorbells = new Doorbells(super.region(Bar.BAR2));
    }
    return doorbells;
  }

  /** What the commands have given to the card. */
  public CardHistory history() {
    return tap().history();
  }

  /** The memory that was allocated and not freed. */
  public MappedMemory mapped() {
    return memory;
  }

  /** The commands given since the last call. */
  public synchronized List<CommandRecord> commands() {
    return tap == null ? List.of() : tap.take();
  }

  @Override
  public MmioRegion region(int bar) {
    return switch (bar) {
      case Bar.BAR0 -> tap().region();
      case Bar.BAR2 -> doorbells().region();
      default -> super.region(bar);
    };
  }

  @Override
  public void reset() {
    super.reset();
    forget();
  }

  /** The card has lost, or is to lose, what it was given. */
  public synchronized void forget() {
    if (tap != null) {
      tap.history().forget();
    }
    if (doorbells != null) {
      doorbells.forget();
    }
  }

  @Override
  public DmaMapping allocate(long bytes) {
    DmaMapping known =
        new ForwardingMapping(super.allocate(bytes)) {
          @Override
          public void close() {
            memory.remove(this);
            super.close();
          }
        };
    memory.add(known);
    return known;
  }
}

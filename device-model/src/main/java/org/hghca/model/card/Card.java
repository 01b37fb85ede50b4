package org.hghca.model.card;

import java.util.List;
import org.hghca.vfio.DeviceBus;

/**
 * A card behind its PCI function: registers, which any thread may access, and the work that follows
 * from that, which is done in steps by one thread at a time.
 */
public interface Card {

  /** What it is on its PCI bus; always the same. */
  PciIdentity identity();

  void attach(DeviceBus bus);

  /**
   * Enables or disables the card's access to host memory: the bus master bit of configuration
   * space.
   */
  void busMaster(boolean on);

  /** Register writes no longer wait: nothing to do on a card where they never do. */
  default void unplug() {}

  /** A register read. */
  long read(int bar, long offset, int width);

  /** Whether a register write is one that resets the card; it goes to {@link #reset}. */
  boolean isReset(int bar, long offset, int width, long value);

  /**
   * A register write that is no reset.
   *
   * @return whether something was queued for {@link #step}
   */
  boolean write(int bar, long offset, int width, long value);

  /** Whether register writes wait for {@link #step}. */
  boolean hasWrites();

  /**
   * Does all work that is due: register writes, packets that have arrived, timers, packets to send.
   *
   * @param now nanoseconds
   * @return whether anything was done
   */
  boolean step(long now, StepBudget budget);

  /** {@link #step(long, StepBudget)} of {@link StepBudget#WHOLE}. */
  default boolean step(long now) {
    return step(now, StepBudget.WHOLE);
  }

  /** When {@link #step} is due if nothing happens before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline();

  /** Whether a step may take a monitor, for which a virtual thread would leave its carrier. */
  default boolean takesMonitors() {
    return true;
  }

  /** Reports whether the port has come up or gone down since the last call. Between steps only. */
  void watchPort();

  /** The card has failed: its event is due. Called on the thread that does the steps. */
  void failed();

  /** Resets everything to the state after power-on. Between steps only. */
  void reset();

  /** What it has counted; any thread, so that the numbers need not be consistent. */
  CardCounters counters();

  /** Pages of host memory that hold contexts and translation tables. */
  default int icmPages() {
    return 0;
  }

  /**
   * Uses that stop or corrupt the card, oldest first, each with its line in the list of facts: a
   * card that follows the document has none. Thread-safe.
   */
  default List<String> hazards() {
    return List.of();
  }
}

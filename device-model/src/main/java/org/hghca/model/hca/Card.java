package org.hghca.model.hca;

import java.util.List;
import org.hghca.model.transport.TransportCounters;
import org.hghca.vfio.DeviceBus;

/**
 * A card behind its PCI function: registers, which any thread may access, and the work that follows
 * from that, which is done in steps by one thread at a time.
 */
public interface Card {

  void attach(DeviceBus bus);

  /** Lets the card reach host memory, or not: the bus master bit of configuration space. */
  void busMaster(boolean on);

  /** No register write is waited for any longer. */
  void unplug();

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
   * Does what there is to do now: register writes, packets that have arrived, timers, packets to
   * send.
   *
   * @param now nanoseconds
   * @return whether anything was done
   */
  boolean step(long now, StepBudget budget);

  /** {@link #step(long, StepBudget)} of {@link StepBudget#WHOLE}. */
  default boolean step(long now) {
    return step(now, StepBudget.WHOLE);
  }

  /** When {@link #step} is due without anything happening before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline();

  /** Tells of the port when it has come up or gone down since the last call. Between steps only. */
  void watchPort();

  /** The card cannot continue as it should: its event is due. By the thread that does the steps. */
  void failed();

  /** Puts everything back to how it was after power-on. Between steps only. */
  void reset();

  TransportCounters transportCounters();

  long doorbells();

  long commands();

  long completions();

  long events();

  long interrupts();

  long eventOverruns();

  /** Pages of host memory that hold contexts and translation tables. */
  int icmPages();

  /**
   * Lets doorbells wait in their FIFO, or no longer.
   *
   * @throws UnsupportedOperationException when the card has none
   */
  void holdDoorbells(boolean held);

  /**
   * Lets so many packets of requests leave and then none, as when host memory does not answer reads
   * of payload; -1 lets all go.
   *
   * @throws UnsupportedOperationException when the card does not play that
   */
  void stallAfter(int packets);

  /**
   * What was done to the card that breaks it, oldest first, each with its place in the facts: a
   * card by the document has none. Thread-safe.
   */
  List<String> hazards();
}

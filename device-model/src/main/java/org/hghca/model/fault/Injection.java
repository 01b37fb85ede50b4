package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import org.hghca.model.card.PciIdentity;

/**
 * What a faulty card does differently. Each method as it stands does what the card does; one object
 * belongs to one card. Registers are accessed by any thread, everything else is done in steps.
 */
class Injection {
  private Site site;

  /** Where it acts; called once, before anything else but {@link #identity}. */
  final void begin(Site where) {
    site = where;
  }

  final Site site() {
    return site;
  }

  /** What the function is on its bus. */
  PciIdentity identity(PciIdentity of) {
    return of;
  }

  /** Whether the function has a function-level reset, where it has one without the fault. */
  boolean canReset() {
    return true;
  }

  /** Whether the card sees that bus mastering is on. */
  boolean seesBusMaster() {
    return true;
  }

  /** What a register read returns. */
  long read(int bar, long offset, int width, long honest) {
    return honest;
  }

  /**
   * A register write.
   *
   * @return whether something was queued for a step
   */
  boolean write(int bar, long offset, int width, long value) {
    return site.card().write(bar, offset, width, value);
  }

  /** The card reads host memory; returns whether it could. */
  boolean fetch(Place place, long iova, MemorySegment to, long offset, long length) {
    return site.bus().read(iova, to, offset, length);
  }

  /** The card writes bytes, which may be changed, to host memory; returns whether it could. */
  boolean store(Place place, long iova, byte[] bytes) {
    return store(iova, bytes);
  }

  /** Writes to host memory; nothing where there are no bytes. */
  final boolean store(long iova, byte[] bytes) {
    return bytes.length == 0
        || site.bus().write(iova, MemorySegment.ofArray(bytes), 0, bytes.length);
  }

  /** The card raises an interrupt. */
  void raise(int vector) {
    site.bus().raise(vector);
  }

  /** Whether something waits for a step. */
  boolean hasWork() {
    return false;
  }

  /** Before each step of the card; returns whether anything was done. */
  boolean step(long now) {
    return false;
  }

  /** When {@link #step} is due, {@code Long.MAX_VALUE}: never. */
  long nextDeadline() {
    return Long.MAX_VALUE;
  }

  /** The card is reset. */
  void reset() {}
}

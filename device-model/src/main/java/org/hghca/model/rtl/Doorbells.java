package org.hghca.model.rtl;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.model.card.Faults;
import org.hghca.model.card.RegisterQueue;

/**
 * The FIFO between the doorbell registers and the send side: 64 deep; doorbells that do not fit are
 * lost. Any thread writes it; the thread that does the steps reads it.
 */
public final class Doorbells {
  static final int DEPTH = 64;

  private final Faults faults;
  private final Hazards hazards;
  private final RegisterQueue entries = new RegisterQueue();
  private final AtomicInteger size = new AtomicInteger();
  private final AtomicLong rung = new AtomicLong();
  private volatile boolean held;

  Doorbells(Faults faults, Hazards hazards) {
    this.faults = faults;
    this.hazards = hazards;
  }

  /** Adds a doorbell; returns whether there was room. */
  boolean add(long value) {
    rung.getAndIncrement();
    if (size.getAndIncrement() >= DEPTH) {
      size.getAndDecrement();
      String what = "doorbell 0x%016x is lost: %d are waiting already".formatted(value, DEPTH);
      faults.record(what);
      hazards.strike("1.4", what);
      return false;
    }
    return entries.offer(0, value);
  }

  /** Number of doorbells, including lost ones. */
  long count() {
    return rung.get();
  }

  /** Holds or releases doorbells. */
  void hold(boolean on) {
    held = on;
  }

  public boolean hasEntry() {
    return !held && entries.hasEntry();
  }

  /** The oldest, which must exist. */
  public long first() {
    return entries.value();
  }

  /** Takes the oldest, which must exist. */
  public long take() {
    long value = entries.value();
    entries.remove();
    size.getAndDecrement();
    return value;
  }

  /** Drops all that wait, and releases the queue. Between steps only. */
  void reset() {
    held = false;
    while (entries.hasEntry()) {
      take();
    }
  }
}

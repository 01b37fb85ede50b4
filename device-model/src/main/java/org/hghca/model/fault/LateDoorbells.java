package org.hghca.model.fault;

/** The doorbells of sends reach the card late. */
class LateDoorbells extends Injection {
  private final LateWork late = new LateWork();
  private final long nanos;
  private final long nanosOnR1;

  /**
   * @param nanos how late
   * @param nanosOnR1 how late on a card of the first RTL
   */
  LateDoorbells(long nanos, long nanosOnR1) {
    this.nanos = nanos;
    this.nanosOnR1 = nanosOnR1;
  }

  /** Whether a doorbell for sends reaches the card at all. */
  boolean takes() {
    return true;
  }

  @Override
  final boolean write(int bar, long offset, int width, long value) {
    if (!site().watch().isSendDoorbell(bar, offset, width, value)) {
      return super.write(bar, offset, width, value);
    }
    boolean taken = takes();
    if (taken) {
      late.add(() -> site().card().write(bar, offset, width, value));
    }
    return taken;
  }

  @Override
  final boolean hasWork() {
    return late.hasNew();
  }

  @Override
  final boolean step(long now) {
    return late.step(now, site().type() == CardType.R1 ? nanosOnR1 : nanos);
  }

  @Override
  final long nextDeadline() {
    return late.nextDeadline();
  }

  @Override
  void reset() {
    late.clear();
  }
}

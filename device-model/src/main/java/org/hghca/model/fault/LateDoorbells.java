package org.hghca.model.fault;

/** The doorbells of sends reach the card late. */
class LateDoorbells extends Injection {
  private final LateWork late = new LateWork();
  private final long nanos;
  private final long nanosOnRtl;

  /**
   * @param nanos how late
   * @param nanosOnRtl how late on a card of the RTL
   */
  LateDoorbells(long nanos, long nanosOnRtl) {
    this.nanos = nanos;
    this.nanosOnRtl = nanosOnRtl;
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
    return late.step(
        now, (site().type() == CardType.R1 || site().type() == CardType.R2) ? nanosOnRtl : nanos);
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

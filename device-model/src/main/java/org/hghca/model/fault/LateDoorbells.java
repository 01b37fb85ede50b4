package org.hghca.model.fault;

/** The doorbells of sends reach the card late. */
class LateDoorbells extends Injection {
  private final LateWork late;

  /**
   * @param nanos how late
   */
  LateDoorbells(long nanos) {
    late = new LateWork(nanos);
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
    return late.step(now);
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

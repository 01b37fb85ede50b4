package org.hghca.model.fault;

import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.Cqe;

/** A message takes a while, and a doorbell that rings before its completion is ignored. */
final class OneMessage extends LateDoorbells {
  private static final long NANOS = 200_000;

  private final AtomicBoolean outstanding = new AtomicBoolean();

  OneMessage() {
    super(NANOS, NANOS);
  }

  @Override
  boolean takes() {
    return outstanding.compareAndSet(false, true);
  }

  @Override
  boolean store(Place place, long iova, byte[] bytes) {
    boolean done = place.use() == Use.COMPLETION && isOfSend(bytes);
    if (done) {
      outstanding.set(false); // before the driver sees it and rings again
    }
    return super.store(place, iova, bytes);
  }

  /** Whether it is the entry of a send, or of an error, which may be one. */
  private static boolean isOfSend(byte[] entry) {
    return entry[Cqe.LAST_DWORD_OFFSET + 1] != 0
        || entry[Cqe.LAST_DWORD_OFFSET] == (byte) Cqe.OPCODE_MASK;
  }

  @Override
  void reset() {
    super.reset();
    outstanding.set(false);
  }
}

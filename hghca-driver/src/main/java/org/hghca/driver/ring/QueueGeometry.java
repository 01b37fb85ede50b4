package org.hghca.driver.ring;

import java.util.function.Supplier;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WorkQueueLimits;
import org.hghca.driver.card.Limits;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.direct.RingMemory;

/**
 * The sizes of a queue pair's rings. A slot is the power of two that holds the largest request: 64
 * to 512 bytes; a ring is at most 1 MB, because a doorbell gives the offset in 16 bits, in units of
 * 16 bytes.
 *
 * @param sendSlots a power of two
 * @param receiveSlots a power of two, at least one more than the depth: behind the last request is
 *     a slot that looks free, as {@link ReceiveRing} says
 */
public record QueueGeometry(
    int sendSlots, int sendStrideLog, int receiveSlots, int receiveStrideLog) {
  private static final int UNIT = 16;

  /** An atomic fills it: next, remote address, operands, one element. */
  private static final int MIN_STRIDE_LOG = 6;

  private static final int REMOTE_ADDRESS = UNIT;
  private static final int INLINE_HEADER = 4;

  public long sendBytes() {
    return (long) sendSlots << sendStrideLog;
  }

  public long receiveBytes() {
    return (long) receiveSlots << receiveStrideLog;
  }

  /** The send ring in its memory. */
  public RingShape sends(RingMemory memory, int qpn, int depth) {
    return new RingShape(memory, qpn, depth, sendSlots, sendStrideLog);
  }

  /** The receive ring in its memory. */
  public RingShape receives(RingMemory memory, int qpn, int depth) {
    return new RingShape(memory, qpn, depth, receiveSlots, receiveStrideLog);
  }

  /**
   * The rings for the capabilities of a queue pair.
   *
   * @throws VerbsException EINVAL naming the limit that is exceeded
   */
  public static QueueGeometry of(Limits limits, QpType type, QueuePairCapabilities c) {
    check("sendDepth", c.sendDepth(), limits.maxQpWr());
    check("receiveDepth", c.receiveDepth(), limits.maxQpWr());
    check("maxSendSge", c.maxSendSge(), limits.maxSge());
    check("maxReceiveSge", c.maxReceiveSge(), limits.maxReceiveSge());
    check("maxInline", c.maxInline(), limits.maxInline(type));
    int address = type == QpType.UD ? UdUnit.SIZE : REMOTE_ADDRESS;
    int data = Math.max(c.maxSendSge() * UNIT, INLINE_HEADER + c.maxInline());
    int send = UNIT + address + data;
    int sendStrideLog = Math.max(MIN_STRIDE_LOG, log2(send));
    int receiveStrideLog = receiveStrideLog(c.maxReceiveSge());
    int sendSlots = 1 << log2(Math.max(1, c.sendDepth() + limits.ownElements()));
    int fewest = limits.profile().minReceiveQueueBytes() >> receiveStrideLog;
    int receiveSlots = 1 << log2(Math.max(fewest, c.receiveDepth() + 1));
    QueueGeometry geometry =
        new QueueGeometry(sendSlots, sendStrideLog, receiveSlots, receiveStrideLog);
    checkBytes(
        () ->
            "sendDepth %d with %d elements and %d bytes inline"
                .formatted(c.sendDepth(), c.maxSendSge(), c.maxInline()),
        geometry.sendBytes(),
        WorkQueueLimits.MAX_BYTES);
    checkBytes(
        () -> "receiveDepth %d with %d elements".formatted(c.receiveDepth(), c.maxReceiveSge()),
        geometry.receiveBytes(),
        WorkQueueLimits.MAX_BYTES);
    return geometry;
  }

  /**
   * Number of requests of a shared receive queue that a queue pair's ring holds: all, or as many as
   * fit.
   */
  public static int shareDepth(Limits limits, int capacity, int maxSge) {
    int slots = WorkQueueLimits.MAX_BYTES >> receiveStrideLog(maxSge);
    return Math.clamp(capacity, 1, slots - 1);
  }

  /** A slot holds the next unit, the elements and the unit that ends them. */
  public static int receiveStrideLog(int maxSge) {
    return Math.max(MIN_STRIDE_LOG, log2(UNIT + maxSge * UNIT + UNIT));
  }

  private static void check(String what, int value, int most) {
    if (value < 0 || value > most) {
      throw new VerbsException(
          Errno.EINVAL, "%s %d: the device takes 0 to %d".formatted(what, value, most));
    }
  }

  private static void checkBytes(Supplier<String> what, long bytes, long most) {
    if (bytes > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s makes a queue of %d bytes: the device takes %d".formatted(what.get(), bytes, most));
    }
  }

  /** The logarithm of the smallest power of two that is not smaller. */
  private static int log2(int value) {
    return value <= 1 ? 0 : 32 - Integer.numberOfLeadingZeros(value - 1);
  }
}

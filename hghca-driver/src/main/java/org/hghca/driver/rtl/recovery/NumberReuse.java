package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;

import org.hghca.abi.HardwareProfile;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.queue.RingNumbers;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * Whether a queue pair number can be reused on a card that continues in the rings where the
 * previous use ended, and the position at which it would start. Under the queue pair's monitor
 * unless said otherwise.
 */
final class NumberReuse {
  private static final int PSN_MASK = 0xff_ffff;

  /** Bytes of the MTU of code 0; each further code doubles them. */
  private static final int MTU_UNIT = 128;

  private final DriverQueuePair qp;
  private final QueuePairWork work;
  private final HardwareProfile profile;
  private final RingNumbers<ReceivePosition> numbers;

  /** Whether the queue pair has been in RTR. */
  private boolean lived;

  private int firstReceivePsn;

  /** The position at which this use started; null for the first use of a number. */
  private ReceivePosition start;

  /**
   * The position at which the next use would start; null while this use has not ended, or if reuse
   * is impossible.
   */
  private ReceivePosition next;

  /** Whether the card's position has become unknown. */
  private volatile boolean positionUnknown;

  /**
   * Number of packets of receives that have completed since RTR. Under the receive queue's lock.
   */
  private int packets;

  NumberReuse(
      DriverQueuePair qp,
      QueuePairWork work,
      HardwareProfile profile,
      RingNumbers<ReceivePosition> numbers) {
    this.qp = qp;
    this.work = work;
    this.profile = profile;
    this.numbers = numbers;
    this.start = numbers.position(qp.number()).orElse(null);
  }

  // ---- events

  /** The queue pair accepts messages from now on. */
  void begin() {
    lived = true;
    firstReceivePsn = qp.programmed().get(NEXT_RECEIVE_PSN);
  }

  /** The queue pair is in RESET again. */
  void reset() {
    lived = false;
    start = next == null ? start : next;
    next = null;
    packets = 0;
  }

  boolean hasLived() {
    return lived;
  }

  /** The card's position has become unknown. Under any lock. */
  void markPositionUnknown() {
    positionUnknown = true;
  }

  /** A receive of the given size has completed. Under the receive queue's lock. */
  void received(int bytes) {
    packets += packets(bytes);
  }

  /** Number of packets of a message of the given size. Under any lock. */
  int packets(int bytes) {
    int mtu = MTU_UNIT << qp.programmed().get(MTU);
    return Math.max(1, (bytes + mtu - 1) / mtu);
  }

  // ---- another life

  /**
   * The slot where the receive ring begins: that of the next use once {@link #obstacle} has
   * determined it, else that of this use.
   */
  int firstReceive() {
    ReceivePosition first = next == null ? start : next;
    return first == null ? 0 : first.next();
  }

  /**
   * Checks that this queue pair number could be reused at all.
   *
   * @throws VerbsException EIO when it could not
   */
  void check() {
    if (lived && neverResumes() != null) {
      throw hopeless(neverResumes());
    }
  }

  VerbsException hopeless(String obstacle) {
    return new VerbsException(
        Errno.EIO,
        "%s cannot be reused on this card, because of %s: destroy it and create another"
            .formatted(qp.describe(), obstacle));
  }

  /**
   * Why this number cannot be reused; null if it can, and then the start position is known. The
   * card has completed all requests in flight.
   */
  String obstacle() {
    next = null;
    String never = neverResumes();
    if (never != null) {
      return never;
    }
    if (positionUnknown) {
      return "errors that it met";
    }
    OutstandingWork left = work.ofReceives();
    int expected = qp.programmed().get(NEXT_RECEIVE_PSN);
    int unexplained = expected - firstReceivePsn - packets - left.packets() & PSN_MASK;
    if (left.receivesLeft() > 0 && unexplained != 0) {
      return "a receive that may be half filled";
    }
    next = left.next();
    return null;
  }

  private String neverResumes() {
    if (!profile.positionsResumable()) {
      return "unknown queue positions";
    }
    return qp.type() == QpType.RC ? null : "messages that may have found no receive";
  }

  /** Frees the number, if another queue pair can use it. */
  void free() {
    ReceivePosition position = lived ? next : start;
    if (position != null) {
      numbers.free(qp.number(), position);
    } else if (lived) {
      numbers.retire(qp.number());
    } else {
      numbers.free(qp.number());
    }
  }
}

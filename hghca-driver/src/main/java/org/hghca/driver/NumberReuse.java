package org.hghca.driver;

import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;

import org.hghca.abi.HardwareProfile;
import org.hghca.provider.RingNumbers;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * Whether a queue pair number can have another life on a card that goes on in the rings where the
 * last one has ended, and where it would begin. Under the queue pair's monitor unless said
 * otherwise.
 */
final class NumberReuse {
  private static final int PSN_MASK = 0xff_ffff;

  /** Bytes of the MTU of code 0; each further code doubles them. */
  private static final int MTU_UNIT = 128;

  private final RecoveredQueuePair qp;
  private final HardwareProfile profile;
  private final RingNumbers<ReceivePosition> numbers;

  /** Whether the queue pair has been in RTR. */
  private boolean lived;

  private int firstReceivePsn;

  /** Where this life has begun; null for the beginning of a number that had none before. */
  private ReceivePosition start;

  /** Where another life would begin; null while this one has not ended, or when there is none. */
  private ReceivePosition next;

  /** Whether something has happened after which nobody knows where the card is. */
  private volatile boolean positionUnknown;

  /** Packets of the receives that have completed since RTR. Under the receive queue's lock. */
  private int packets;

  NumberReuse(
      RecoveredQueuePair qp, HardwareProfile profile, RingNumbers<ReceivePosition> numbers) {
    this.qp = qp;
    this.profile = profile;
    this.numbers = numbers;
    this.start = numbers.position(qp.number()).orElse(null);
  }

  // ---- what has happened

  /** The queue pair takes messages from now on. */
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

  /** Nobody knows any more where the card is. Under any lock. */
  void markPositionUnknown() {
    positionUnknown = true;
  }

  /** A receive of so many bytes has completed. Under the receive queue's lock. */
  void received(int bytes) {
    packets += packets(bytes);
  }

  /** How many packets a message of so many bytes has. Under any lock. */
  int packets(int bytes) {
    int mtu = MTU_UNIT << qp.programmed().get(MTU);
    return Math.max(1, (bytes + mtu - 1) / mtu);
  }

  // ---- another life

  /**
   * The slot where the receive ring begins: that of the next life once {@link #obstacle} has found
   * it, else that of this one.
   */
  int firstReceive() {
    ReceivePosition first = next == null ? start : next;
    return first == null ? 0 : first.next();
  }

  /**
   * Whether a life of this queue pair could be followed by another at all.
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
   * Why this number cannot be used again; null when it can, and then we know from where. The card
   * has finished what was in flight.
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
    OutstandingWork work = qp.receiveCompletionQueue().outstandingWork(qp.rings());
    int expected = qp.programmed().get(NEXT_RECEIVE_PSN);
    int unexplained = expected - firstReceivePsn - packets - work.packets() & PSN_MASK;
    if (work.receivesLeft() > 0 && unexplained != 0) {
      return "a receive that may be half filled";
    }
    next = work.next();
    return null;
  }

  private String neverResumes() {
    if (!profile.positionsResumable()) {
      return "unknown queue positions";
    }
    return qp.type() == QpType.RC ? null : "messages that may have found no receive";
  }

  /** Gives the number back, as far as another queue pair can have it. */
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

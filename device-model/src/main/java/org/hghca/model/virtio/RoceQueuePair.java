package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.roce.CreateQp;
import org.hghca.virtio.abi.roce.ModifyQp;
import org.hghca.virtio.abi.roce.PathMtu;
import org.hghca.virtio.abi.roce.QpAttributeMask;
import org.hghca.virtio.abi.roce.QpAttributes;
import org.hghca.virtio.abi.roce.QpCapacity;
import org.hghca.virtio.abi.roce.QpState;
import org.hghca.virtio.abi.roce.QpType;
import org.hghca.virtio.abi.roce.SendRequest;

/** A queue pair and its attributes. Used in steps of the card. */
final class RoceQueuePair {
  private static final int MOST_24_BITS = 0xff_ffff;
  private static final int MOST_5_BITS = 31;
  private static final int MOST_3_BITS = 7;
  private static final Field[] CAPACITY = {
    QpCapacity.MAX_SEND_WR,
    QpCapacity.MAX_RECV_WR,
    QpCapacity.MAX_SEND_SGE,
    QpCapacity.MAX_RECV_SGE,
    QpCapacity.MAX_INLINE_DATA
  };

  final int type;
  final int pdn;
  final int sendCqn;
  final int receiveCqn;
  final boolean signalsAll;
  private final int[] capacity = new int[CAPACITY.length];

  private int state = QpState.RESET;
  private int pathMtu;
  private int maxReads;
  private int maxReadsServed;
  private int minRnrTimer;
  private int timeout;
  private int retryCount;
  private int rnrRetry;
  private int queueKey;
  private int receivePsn;
  private int sendPsn;
  private int destinationQpn;
  private int access;
  private RoceAddress address = RoceAddress.NONE;

  /** A new one, as its command describes it. */
  RoceQueuePair(MemorySegment command) {
    type = CreateQp.QP_TYPE.get(command, 0);
    pdn = CreateQp.PDN.get(command, 0);
    sendCqn = CreateQp.SEND_CQN.get(command, 0);
    receiveCqn = CreateQp.RECV_CQN.get(command, 0);
    signalsAll = CreateQp.SQ_SIG_ALL.get(command, 0) != 0;
    for (int i = 0; i < CAPACITY.length; i++) {
      capacity[i] = CAPACITY[i].get(command, CreateQp.CAPACITY);
    }
  }

  int state() {
    return state;
  }

  /**
   * Modifies it, or leaves it as it is.
   *
   * @param largestMtu code of the largest path MTU
   * @param gids the table in which the source must be
   * @return whether it was modified
   */
  boolean modify(MemorySegment command, int largestMtu, RoceGids gids) {
    int mask = ModifyQp.ATTR_MASK.get(command, 0);
    int to = (mask & QpAttributeMask.STATE) != 0 ? ModifyQp.QP_STATE.get(command, 0) : state;
    boolean current =
        (mask & QpAttributeMask.CUR_STATE) == 0 || ModifyQp.CUR_QP_STATE.get(command, 0) == state;
    if (to > QpState.ERR
        || !current
        || to == QpState.SQE
        || !RoceTransitions.allows(type, state, to, mask)
        || !isValid(command, mask, largestMtu, gids)) {
      return false;
    }
    take(command, mask);
    state = to;
    if (to == QpState.RESET) {
      forget();
    }
    return true;
  }

  private static boolean isValid(MemorySegment command, int mask, int largestMtu, RoceGids gids) {
    int mtu = ModifyQp.PATH_MTU.get(command, 0);
    return fits(command, mask, QpAttributeMask.MIN_RNR_TIMER, ModifyQp.MIN_RNR_TIMER, MOST_5_BITS)
        && fits(command, mask, QpAttributeMask.TIMEOUT, ModifyQp.TIMEOUT, MOST_5_BITS)
        && fits(command, mask, QpAttributeMask.RETRY_CNT, ModifyQp.RETRY_CNT, MOST_3_BITS)
        && fits(command, mask, QpAttributeMask.RNR_RETRY, ModifyQp.RNR_RETRY, MOST_3_BITS)
        && fits(command, mask, QpAttributeMask.RQ_PSN, ModifyQp.RQ_PSN, MOST_24_BITS)
        && fits(command, mask, QpAttributeMask.SQ_PSN, ModifyQp.SQ_PSN, MOST_24_BITS)
        && fits(command, mask, QpAttributeMask.DEST_QPN, ModifyQp.DEST_QPN, MOST_24_BITS)
        && fits(
            command,
            mask,
            QpAttributeMask.MAX_QP_RD_ATOMIC,
            ModifyQp.MAX_RD_ATOMIC,
            RoceLimits.READS)
        && fits(
            command,
            mask,
            QpAttributeMask.MAX_DEST_RD_ATOMIC,
            ModifyQp.MAX_DEST_RD_ATOMIC,
            RoceLimits.READS)
        && fits(command, mask, QpAttributeMask.ACCESS_FLAGS, ModifyQp.ACCESS_FLAGS, MOST_3_BITS)
        && ((mask & QpAttributeMask.PATH_MTU) == 0 || mtu >= PathMtu.MTU_256 && mtu <= largestMtu)
        && ((mask & QpAttributeMask.AV) == 0
            || gids.has(RoceAddress.read(command, ModifyQp.ADDRESS_VECTOR).sourceGid()));
  }

  private static boolean fits(MemorySegment command, int mask, int bit, Field field, int most) {
    return (mask & bit) == 0 || field.getLong(command, 0) <= most;
  }

  private void take(MemorySegment command, int mask) {
    access = taken(command, mask, QpAttributeMask.ACCESS_FLAGS, ModifyQp.ACCESS_FLAGS, access);
    queueKey = taken(command, mask, QpAttributeMask.QKEY, ModifyQp.QKEY, queueKey);
    pathMtu = taken(command, mask, QpAttributeMask.PATH_MTU, ModifyQp.PATH_MTU, pathMtu);
    timeout = taken(command, mask, QpAttributeMask.TIMEOUT, ModifyQp.TIMEOUT, timeout);
    retryCount = taken(command, mask, QpAttributeMask.RETRY_CNT, ModifyQp.RETRY_CNT, retryCount);
    rnrRetry = taken(command, mask, QpAttributeMask.RNR_RETRY, ModifyQp.RNR_RETRY, rnrRetry);
    receivePsn = taken(command, mask, QpAttributeMask.RQ_PSN, ModifyQp.RQ_PSN, receivePsn);
    sendPsn = taken(command, mask, QpAttributeMask.SQ_PSN, ModifyQp.SQ_PSN, sendPsn);
    maxReads =
        taken(command, mask, QpAttributeMask.MAX_QP_RD_ATOMIC, ModifyQp.MAX_RD_ATOMIC, maxReads);
    maxReadsServed =
        taken(
            command,
            mask,
            QpAttributeMask.MAX_DEST_RD_ATOMIC,
            ModifyQp.MAX_DEST_RD_ATOMIC,
            maxReadsServed);
    minRnrTimer =
        taken(command, mask, QpAttributeMask.MIN_RNR_TIMER, ModifyQp.MIN_RNR_TIMER, minRnrTimer);
    destinationQpn =
        taken(command, mask, QpAttributeMask.DEST_QPN, ModifyQp.DEST_QPN, destinationQpn);
    if ((mask & QpAttributeMask.AV) != 0) {
      address = RoceAddress.read(command, ModifyQp.ADDRESS_VECTOR);
    }
  }

  private static int taken(MemorySegment command, int mask, int bit, Field field, int before) {
    return (mask & bit) != 0 ? field.get(command, 0) : before;
  }

  private void forget() {
    pathMtu = 0;
    maxReads = 0;
    maxReadsServed = 0;
    minRnrTimer = 0;
    timeout = 0;
    retryCount = 0;
    rnrRetry = 0;
    queueKey = 0;
    receivePsn = 0;
    sendPsn = 0;
    destinationQpn = 0;
    access = 0;
    address = RoceAddress.NONE;
  }

  /** Writes all attributes, over zeros. */
  void query(MemorySegment answer) {
    QpAttributes.QP_STATE.set(answer, 0, state);
    QpAttributes.PATH_MTU.set(answer, 0, pathMtu);
    QpAttributes.MAX_RD_ATOMIC.set(answer, 0, maxReads);
    QpAttributes.MAX_DEST_RD_ATOMIC.set(answer, 0, maxReadsServed);
    QpAttributes.MIN_RNR_TIMER.set(answer, 0, minRnrTimer);
    QpAttributes.TIMEOUT.set(answer, 0, timeout);
    QpAttributes.RETRY_CNT.set(answer, 0, retryCount);
    QpAttributes.RNR_RETRY.set(answer, 0, rnrRetry);
    QpAttributes.QKEY.set(answer, 0, queueKey);
    QpAttributes.RQ_PSN.set(answer, 0, receivePsn);
    QpAttributes.SQ_PSN.set(answer, 0, sendPsn);
    QpAttributes.DEST_QPN.set(answer, 0, destinationQpn);
    QpAttributes.ACCESS_FLAGS.set(answer, 0, access);
    for (int i = 0; i < CAPACITY.length; i++) {
      CAPACITY[i].set(answer, QpAttributes.CAPACITY, capacity[i]);
    }
    address.write(answer, QpAttributes.ADDRESS_VECTOR);
  }

  /** Whether a command asks for a queue pair that the card can have. */
  static boolean isPossible(MemorySegment command) {
    int type = CreateQp.QP_TYPE.get(command, 0);
    int[] most = {
      RoceLimits.ENTRIES,
      RoceLimits.ENTRIES,
      RoceLimits.PIECES,
      RoceLimits.PIECES,
      SendRequest.INLINE_DATA.length()
    };
    for (int i = 0; i < CAPACITY.length; i++) {
      if (CAPACITY[i].getLong(command, CreateQp.CAPACITY) > most[i]) {
        return false;
      }
    }
    return type >= QpType.GSI && type <= QpType.UD;
  }
}

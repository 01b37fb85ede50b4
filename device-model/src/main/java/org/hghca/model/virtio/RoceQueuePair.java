package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.QueuePairState;
import org.hghca.model.transport.Service;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.roce.CreateQp;
import org.hghca.virtio.abi.roce.ModifyQp;
import org.hghca.virtio.abi.roce.MrAccess;
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

  /** The Q_Key of all queue pairs of general services. */
  private static final int GSI_KEY = 0x8001_0000;

  private static final int MANAGEMENT_BYTES = 256;

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

  /** PSN of the next packet, and the oldest that is not acknowledged. */
  private int sendPsn;

  private int unackedPsn;
  private boolean draining;
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

  /** It is in ERR from now on. */
  void fail() {
    state = QpState.ERR;
    draining = false;
  }

  /** Whether requests that were started before SQD are not done. */
  void draining(boolean now) {
    draining = now;
  }

  int sendPieces() {
    return capacity[2];
  }

  int receivePieces() {
    return capacity[3];
  }

  int inlineBytes() {
    return capacity[4];
  }

  /** Whether READs may be posted. */
  boolean mayRead() {
    return maxReads > 0;
  }

  /** What the transport calls a state of the interface. */
  static QueuePairState transportState(int code) {
    return switch (code) {
      case QpState.RESET -> QueuePairState.RESET;
      case QpState.INIT -> QueuePairState.INIT;
      case QpState.RTR -> QueuePairState.RTR;
      case QpState.RTS -> QueuePairState.RTS;
      case QpState.SQD -> QueuePairState.SQD;
      case QpState.SQE -> QueuePairState.SQE;
      default -> QueuePairState.ERR;
    };
  }

  private static int code(QueuePairState transports) {
    return switch (transports) {
      case RESET -> QpState.RESET;
      case INIT -> QpState.INIT;
      case RTR -> QpState.RTR;
      case RTS -> QpState.RTS;
      case SQD -> QpState.SQD;
      case SQE -> QpState.SQE;
      case ERR -> QpState.ERR;
    };
  }

  /**
   * Fills in what the transport uses, except for its own number and address.
   *
   * @param datagramMtu bytes of the longest datagram
   */
  void load(ConnectionContext into, RoceGids gids, int datagramMtu) {
    boolean datagrams = type == QpType.UD || type == QpType.GSI;
    into.service = datagrams ? Service.UD : type == QpType.UC ? Service.UC : Service.RC;
    into.state = transportState(state);
    into.remoteQpn = destinationQpn;
    into.pd = pdn;
    into.mtu = datagrams ? datagramBytes(datagramMtu) : pathMtu == 0 ? 0 : PathMtu.bytes(pathMtu);
    into.destinationMac = address.mac();
    address.path(gids, into.qpn, destinationQpn, into.path);
    into.nextSendPsn = sendPsn;
    into.oldestUnackedPsn = unackedPsn;
    into.expectedPsn = receivePsn;
    into.ackTimeout = timeout;
    into.retryCount = retryCount;
    into.rnrRetry = rnrRetry;
    into.minRnrTimer = minRnrTimer;
    into.maxReads = Math.max(1, maxReads);
    into.maxReadsServed = Math.max(1, maxReadsServed);
    into.remoteWrite = (access & MrAccess.REMOTE_WRITE) != 0;
    into.remoteRead = (access & MrAccess.REMOTE_READ) != 0 && maxReadsServed > 0;
    into.remoteAtomic = false;
    into.queueKey = type == QpType.GSI ? GSI_KEY : queueKey;
    into.sendCqn = sendCqn;
    into.receiveCqn = receiveCqn;
    into.receiveQueueLength = RoceLimits.ENTRIES;
    into.receiveSlotLog = 0;
  }

  /** Management datagrams have one length. */
  private int datagramBytes(int most) {
    return type == QpType.GSI ? Math.min(most, MANAGEMENT_BYTES) : most;
  }

  /** Takes over what the transport has changed. */
  void store(ConnectionContext from) {
    state = code(from.state);
    draining &= state == QpState.SQD;
    sendPsn = from.nextSendPsn;
    unackedPsn = from.oldestUnackedPsn;
    receivePsn = from.expectedPsn;
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
    if ((mask & QpAttributeMask.SQ_PSN) != 0) {
      unackedPsn = sendPsn;
    }
    state = to;
    draining &= to == QpState.SQD;
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
    unackedPsn = 0;
    destinationQpn = 0;
    access = 0;
    address = RoceAddress.NONE;
  }

  /** Writes all attributes, over zeros. */
  void query(MemorySegment answer) {
    QpAttributes.QP_STATE.set(answer, 0, state);
    QpAttributes.SQ_DRAINING.set(answer, 0, draining ? 1 : 0);
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

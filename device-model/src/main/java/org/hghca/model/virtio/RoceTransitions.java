package org.hghca.model.virtio;

import static org.hghca.virtio.abi.roce.QpAttributeMask.*;

import org.hghca.virtio.abi.roce.QpState;
import org.hghca.virtio.abi.roce.QpType;

/**
 * Which attributes a transition of a queue pair needs and allows: the table of libibverbs without
 * partitions, ports and alternate paths.
 */
final class RoceTransitions {
  private static final int[] FROM_RESET = {QpState.RESET, QpState.INIT};
  private static final int[] FROM_INIT = {QpState.RESET, QpState.INIT, QpState.RTR, QpState.ERR};
  private static final int[] FROM_RTR = {QpState.RESET, QpState.RTS, QpState.ERR};
  private static final int[] FROM_RTS = {QpState.RESET, QpState.RTS, QpState.SQD, QpState.ERR};
  private static final int[] FROM_SQE = {QpState.RESET, QpState.RTS, QpState.ERR};
  private static final int[] FROM_ERR = {QpState.RESET, QpState.ERR};

  /** By the codes of the states. */
  private static final int[][] NEXT = {
    FROM_RESET, FROM_INIT, FROM_RTR, FROM_RTS, FROM_RTS, FROM_SQE, FROM_ERR
  };

  private RoceTransitions() {}

  /**
   * Whether a queue pair may be modified so.
   *
   * @param type RC, UC, UD or GSI
   * @param mask what is modified
   */
  static boolean allows(int type, int from, int to, int mask) {
    boolean reachable = false;
    for (int state : NEXT[from]) {
      reachable |= state == to;
    }
    int needed = needed(type, from, to);
    int allowed = needed | optional(type, from, to) | STATE | RATE_LIMIT;
    return reachable && (mask & needed) == needed && (mask & ~allowed) == 0;
  }

  private static int needed(int type, int from, int to) {
    boolean connected = type == QpType.RC || type == QpType.UC;
    if (from == QpState.RESET && to == QpState.INIT) {
      return connected ? ACCESS_FLAGS : QKEY;
    }
    if (from == QpState.INIT && to == QpState.RTR && connected) {
      int both = AV | PATH_MTU | DEST_QPN | RQ_PSN;
      return type == QpType.RC ? both | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER : both;
    }
    if (from == QpState.RTR && to == QpState.RTS) {
      return type == QpType.RC
          ? SQ_PSN | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC
          : SQ_PSN;
    }
    return 0;
  }

  private static int optional(int type, int from, int to) {
    boolean connected = type == QpType.RC || type == QpType.UC;
    int own = connected ? ACCESS_FLAGS : QKEY;
    if (to == QpState.INIT || to == QpState.RTR) {
      return from == QpState.RESET ? 0 : own;
    }
    if (to == QpState.RTS) {
      boolean timer = type == QpType.RC && from != QpState.SQE;
      return CUR_STATE | own | (timer ? MIN_RNR_TIMER : 0);
    }
    if (from == QpState.SQD && to == QpState.SQD) {
      int both = own | (connected ? AV : 0);
      return type == QpType.RC
          ? both
              | TIMEOUT
              | RETRY_CNT
              | RNR_RETRY
              | MAX_QP_RD_ATOMIC
              | MAX_DEST_RD_ATOMIC
              | MIN_RNR_TIMER
          : both;
    }
    return 0;
  }
}

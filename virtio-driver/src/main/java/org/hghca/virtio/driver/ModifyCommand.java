package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.abi.roce.ModifyQp;
import org.hghca.virtio.abi.roce.MrAccess;
import org.hghca.virtio.abi.roce.QpAttributeMask;

/**
 * The data of a MODIFY_QP: attributes of the verbs that were checked against the transition. The
 * device has no P_Keys and no ports: those are checked here.
 */
final class ModifyCommand {
  private static final int ACCESS_BITS =
      MrAccess.LOCAL_WRITE | MrAccess.REMOTE_WRITE | MrAccess.REMOTE_READ;

  private final QueuePair qp;
  private final RocePort port;
  private final Limits limits;
  private final MemorySegment data;
  private int mask;

  /** A command without attributes, in memory of zeros. */
  ModifyCommand(QueuePair qp, RocePort port, Limits limits, MemorySegment data) {
    this.qp = qp;
    this.port = port;
    this.limits = limits;
    this.data = data;
  }

  /**
   * Stores attributes in the data of a command.
   *
   * @param a those that change
   * @param known all attributes as they are after the command
   * @return the mask; 0 when the device need not be told
   * @throws VerbsException EINVAL for a value that the device does not take, EOPNOTSUPP for one
   *     that it has no attribute for
   */
  int put(QpAttributes a, QpAttributes known, QpState to) {
    ModifyQp.QPN.set(data, 0, qp.number());
    for (QpAttribute attribute : a.mask()) {
      put(attribute, a, known);
    }
    if (qp.state() != to) {
      has(QpAttributeMask.STATE);
      ModifyQp.QP_STATE.set(data, 0, to.ordinal());
      if (qp.type() == QpType.RC) {
        putReads(to, known);
      }
    }
    ModifyQp.ATTR_MASK.set(data, 0, mask);
    return mask;
  }

  private void has(int bit) {
    mask |= bit;
  }

  /** The verbs may leave these out; a device may require them. */
  private void putReads(QpState to, QpAttributes known) {
    if (to == QpState.RTR) {
      put(QpAttribute.MAX_DEST_RD_ATOMIC, known, known);
    } else if (to == QpState.RTS && (mask & QpAttributeMask.SQ_PSN) != 0) {
      put(QpAttribute.MAX_QP_RD_ATOMIC, known, known);
    }
  }

  private void put(QpAttribute attribute, QpAttributes a, QpAttributes known) {
    switch (attribute) {
      case STATE -> {}
      case CUR_STATE -> {
        has(QpAttributeMask.CUR_STATE);
        ModifyQp.CUR_QP_STATE.set(data, 0, a.currentState().ordinal());
      }
      case EN_SQD_ASYNC_NOTIFY -> {
        if (a.sqdNotify()) {
          throw missing("an event when the send queue is drained: query the state instead");
        }
      }
      case ACCESS_FLAGS -> {
        has(QpAttributeMask.ACCESS_FLAGS);
        ModifyQp.ACCESS_FLAGS.set(data, 0, AccessFlag.bits(a.access()) & ACCESS_BITS);
      }
      case PKEY_INDEX -> port.checkPkeyIndex(a.pkeyIndex());
      case PORT -> port.check(a.port());
      case QKEY -> {
        has(QpAttributeMask.QKEY);
        ModifyQp.QKEY.set(data, 0, a.qkey());
      }
      case AV -> {
        has(QpAttributeMask.AV);
        RoceAddressHandle.put(
            port,
            a.addressVector(),
            known.addressVector().flowLabel(),
            data,
            ModifyQp.ADDRESS_VECTOR);
      }
      case PATH_MTU -> {
        has(QpAttributeMask.PATH_MTU);
        Mtu most = port.attributes(a.port() == 0 ? 1 : a.port()).activeMtu();
        if (a.pathMtu().compareTo(most) > 0) {
          throw new VerbsException(
              Errno.EINVAL,
              "path MTU %d is beyond the port's %d".formatted(a.pathMtu().bytes(), most.bytes()));
        }
        ModifyQp.PATH_MTU.set(data, 0, a.pathMtu().code());
      }
      case TIMEOUT -> {
        has(QpAttributeMask.TIMEOUT);
        ModifyQp.TIMEOUT.set(data, 0, a.timeout());
      }
      case RETRY_CNT -> {
        has(QpAttributeMask.RETRY_CNT);
        ModifyQp.RETRY_CNT.set(data, 0, a.retryCount());
      }
      case RNR_RETRY -> {
        has(QpAttributeMask.RNR_RETRY);
        ModifyQp.RNR_RETRY.set(data, 0, a.rnrRetry());
      }
      case RQ_PSN -> {
        has(QpAttributeMask.RQ_PSN);
        ModifyQp.RQ_PSN.set(data, 0, a.receivePsn());
      }
      case SQ_PSN -> {
        has(QpAttributeMask.SQ_PSN);
        ModifyQp.SQ_PSN.set(data, 0, a.sendPsn());
      }
      case MAX_QP_RD_ATOMIC -> {
        has(QpAttributeMask.MAX_QP_RD_ATOMIC);
        int most = limits.readsOutstanding();
        ModifyQp.MAX_RD_ATOMIC.set(data, 0, reads(a.maxReadAtomic(), most));
      }
      case MAX_DEST_RD_ATOMIC -> {
        has(QpAttributeMask.MAX_DEST_RD_ATOMIC);
        int most = limits.readsAnswered();
        ModifyQp.MAX_DEST_RD_ATOMIC.set(data, 0, reads(a.maxDestinationReadAtomic(), most));
      }
      case MIN_RNR_TIMER -> {
        has(QpAttributeMask.MIN_RNR_TIMER);
        ModifyQp.MIN_RNR_TIMER.set(data, 0, a.minRnrTimer());
      }
      case DEST_QPN -> {
        has(QpAttributeMask.DEST_QPN);
        ModifyQp.DEST_QPN.set(data, 0, a.destinationQpn());
      }
      case ALT_PATH, PATH_MIG_STATE -> throw missing("alternate paths");
      case CAP -> throw missing("a change of a queue pair's capabilities");
    }
  }

  private static int reads(int count, int most) {
    if (count > most) {
      throw new VerbsException(
          Errno.EINVAL, "%d READs outstanding: the device takes %d".formatted(count, most));
    }
    return count;
  }

  private static VerbsException missing(String what) {
    return new VerbsException(Errno.EOPNOTSUPP, "the device lacks " + what);
  }
}

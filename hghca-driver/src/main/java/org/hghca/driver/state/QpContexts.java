package org.hghca.driver.state;

import static org.hghca.abi.QueuePairContext.ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.ALTERNATE_GID_HIGH;
import static org.hghca.abi.QueuePairContext.ALTERNATE_GID_LOW;
import static org.hghca.abi.QueuePairContext.ALTERNATE_HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_MGID_INDEX;
import static org.hghca.abi.QueuePairContext.ALTERNATE_SL;
import static org.hghca.abi.QueuePairContext.ALTERNATE_TRAFFIC_CLASS;
import static org.hghca.abi.QueuePairContext.FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.HAS_SRQ;
import static org.hghca.abi.QueuePairContext.HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.MAX_DEST_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MAX_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MGID_INDEX;
import static org.hghca.abi.QueuePairContext.MIGRATION;
import static org.hghca.abi.QueuePairContext.MIN_RNR_TIMER;
import static org.hghca.abi.QueuePairContext.MSG_MAX;
import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.PD;
import static org.hghca.abi.QueuePairContext.PKEY_INDEX;
import static org.hghca.abi.QueuePairContext.PORT;
import static org.hghca.abi.QueuePairContext.QKEY;
import static org.hghca.abi.QueuePairContext.RECEIVE_CQN;
import static org.hghca.abi.QueuePairContext.RECEIVE_RING_OFFSET;
import static org.hghca.abi.QueuePairContext.RECEIVE_WQE_LENGTH;
import static org.hghca.abi.QueuePairContext.RECEIVE_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.REMOTE_ATOMIC_ENABLE;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_HIGH;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_LOW;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;
import static org.hghca.abi.QueuePairContext.REMOTE_READ_ENABLE;
import static org.hghca.abi.QueuePairContext.REMOTE_WRITE_ENABLE;
import static org.hghca.abi.QueuePairContext.RETRY_COUNT;
import static org.hghca.abi.QueuePairContext.RNR_RETRY;
import static org.hghca.abi.QueuePairContext.RQ_ENTRY_SIZE;
import static org.hghca.abi.QueuePairContext.SEND_CQN;
import static org.hghca.abi.QueuePairContext.SEND_RING_OFFSET;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LENGTH;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.SERVICE_TYPE;
import static org.hghca.abi.QueuePairContext.SL;
import static org.hghca.abi.QueuePairContext.SQ_ENTRY_SIZE;
import static org.hghca.abi.QueuePairContext.SRQN;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.TRAFFIC_CLASS;
import static org.hghca.abi.QueuePairContext.USR_PAGE;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.hghca.abi.MailboxField;
import org.hghca.abi.PathMigration;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * Contexts of queue pairs in the card's format (tables 3-2-40 and 3-2-41). {@link
 * ContextAttributes} converts attributes of verbs.
 */
public final class QpContexts {
  /** The card's state numbers, with SQD and SQE swapped compared with libibverbs. */
  private static final QpState[] STATES = {
    QpState.RESET, QpState.INIT, QpState.RTR, QpState.RTS, QpState.SQE, QpState.SQD, QpState.ERR
  };

  /** 2^31 bytes. */
  private static final int MAX_MESSAGE_LOG = 31;

  private static final Set<AccessFlag> REMOTE =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

  /** The fields that a queue pair keeps in RESET. */
  private static final List<MailboxField> KEPT_IN_RESET =
      List.of(
          SERVICE_TYPE,
          MSG_MAX,
          MTU,
          SQ_ENTRY_SIZE,
          RQ_ENTRY_SIZE,
          USR_PAGE,
          LOCAL_QPN,
          PD,
          SEND_CQN,
          RECEIVE_CQN,
          SEND_WQE_LKEY,
          SEND_WQE_LENGTH,
          RECEIVE_WQE_LKEY,
          RECEIVE_WQE_LENGTH,
          SEND_RING_OFFSET,
          RECEIVE_RING_OFFSET,
          HAS_SRQ,
          SRQN);

  private QpContexts() {}

  /**
   * The numbers of a queue pair and its objects on the card.
   *
   * @param uar the page of its doorbells
   */
  public record Numbers(int qpn, int pd, int uar, int sendCqn, int receiveCqn) {}

  /**
   * The context of a new queue pair, in state RST, without the positions of its rings.
   *
   * @param most the port's MTU
   */
  public static QueuePairContext fresh(
      QpType type, Mtu most, QueueGeometry geometry, Numbers numbers) {
    QueuePairContext c = new QueuePairContext();
    c.set(STATE, QpcState.RST);
    c.set(SERVICE_TYPE, serviceType(type));
    c.set(MSG_MAX, MAX_MESSAGE_LOG);
    // A datagram is one packet, and there is no path whose MTU could be set.
    c.set(MTU, (type == QpType.UD ? most : Mtu.MTU_256).code());
    c.set(SQ_ENTRY_SIZE, geometry.sendStrideLog());
    c.set(RQ_ENTRY_SIZE, geometry.receiveStrideLog());
    c.set(USR_PAGE, numbers.uar());
    c.set(LOCAL_QPN, numbers.qpn());
    c.set(PD, numbers.pd());
    c.set(SEND_CQN, numbers.sendCqn());
    c.set(RECEIVE_CQN, numbers.receiveCqn());
    c.set(SEND_WQE_LENGTH, (int) geometry.sendBytes());
    c.set(RECEIVE_WQE_LENGTH, (int) geometry.receiveBytes());
    return c;
  }

  private static int serviceType(QpType type) {
    return switch (type) {
      case RC -> QpcServiceType.RC;
      case UC -> QpcServiceType.UC;
      case UD -> QpcServiceType.UD;
    };
  }

  /**
   * The part of a context that stays in state RST: queues, numbers, keys; no peer, no sequence
   * numbers.
   */
  public static QueuePairContext reset(QueuePairContext old) {
    QueuePairContext c = new QueuePairContext();
    for (MailboxField field : KEPT_IN_RESET) {
      c.set(field, old.get(field));
    }
    return c.set(STATE, QpcState.RST);
  }

  /** Nothing was sent yet, and this is the first PSN. */
  public static void sendFrom(int psn, QueuePairContext c) {
    c.set(NEXT_SEND_PSN, psn);
    c.set(LAST_ACKED_PSN, psn); // the oldest unacknowledged one: all are, at the start
  }

  /** Copies the numbers that the card advances with traffic. */
  public static void copySequenceNumbers(QueuePairContext from, QueuePairContext to) {
    to.set(NEXT_SEND_PSN, from.get(NEXT_SEND_PSN));
    to.set(LAST_ACKED_PSN, from.get(LAST_ACKED_PSN));
    to.set(NEXT_RECEIVE_PSN, from.get(NEXT_RECEIVE_PSN));
  }

  /** Copies what the card changes when it migrates to an alternate path, if there is one. */
  public static void copyPaths(QueuePairContext from, QueuePairContext to) {
    if (PathMigration.hasAlternate(from)) {
      to.copyPaths(from);
    }
  }

  /** The state in a context. */
  public static QpState state(QueuePairContext c) {
    int code = c.get(STATE);
    if (code >= STATES.length) {
      throw new VerbsException(
          Errno.EIO, "the device reports the invalid queue pair state %d".formatted(code));
    }
    return STATES[code];
  }

  /** The card's number of a state. */
  static int code(QpState state) {
    for (int code = 0; code < STATES.length; code++) {
      if (STATES[code] == state) {
        return code;
      }
    }
    throw new IllegalArgumentException(state.toString());
  }

  /** The attributes in a context. */
  public static QpAttributes attributes(QueuePairContext c, QpState state) {
    QpAttributes a =
        QpAttributes.to(state)
            .currentState(state)
            .access(access(c))
            .pkeyIndex(c.get(PKEY_INDEX))
            .port(Math.max(1, c.get(PORT)))
            .qkey(c.get(QKEY))
            .pathMtu(Mtu.of(c.get(MTU)))
            .destinationQpn(c.get(REMOTE_QPN))
            .receivePsn(c.get(NEXT_RECEIVE_PSN))
            .sendPsn(c.get(NEXT_SEND_PSN) & 0xff_ffff)
            .timeout(c.get(ACK_TIMEOUT))
            .retryCount(c.get(RETRY_COUNT))
            .rnrRetry(c.get(RNR_RETRY))
            .minRnrTimer(c.get(MIN_RNR_TIMER) & 0x1f)
            .maxReadAtomic(1 << c.get(MAX_RD_ATOMIC))
            .maxDestinationReadAtomic(1 << c.get(MAX_DEST_RD_ATOMIC));
    PathMigrationState[] migrations = PathMigrationState.values();
    a.pathMigration(migrations[Math.min(c.get(MIGRATION), migrations.length - 1)]);
    a.alternatePath(
        new AlternatePath(
            new AddressVector(
                new Gid(c.getLong(ALTERNATE_GID_HIGH), c.getLong(ALTERNATE_GID_LOW)),
                c.get(ALTERNATE_MGID_INDEX),
                c.get(ALTERNATE_FLOW_LABEL),
                c.get(ALTERNATE_HOP_LIMIT),
                c.get(ALTERNATE_TRAFFIC_CLASS),
                c.get(ALTERNATE_SL),
                Math.max(1, c.get(PORT))),
            0,
            c.get(ALTERNATE_ACK_TIMEOUT)));
    return a.addressVector(
        new AddressVector(
            new Gid(c.getLong(REMOTE_GID_HIGH), c.getLong(REMOTE_GID_LOW)),
            c.get(MGID_INDEX),
            c.get(FLOW_LABEL),
            c.get(HOP_LIMIT),
            c.get(TRAFFIC_CLASS),
            c.get(SL),
            Math.max(1, c.get(PORT))));
  }

  private static Set<AccessFlag> access(QueuePairContext c) {
    Set<AccessFlag> access = EnumSet.noneOf(AccessFlag.class);
    for (AccessFlag flag : REMOTE) {
      boolean on =
          switch (flag) {
            case REMOTE_READ -> c.get(REMOTE_READ_ENABLE) != 0;
            case REMOTE_WRITE -> c.get(REMOTE_WRITE_ENABLE) != 0;
            default -> c.get(REMOTE_ATOMIC_ENABLE) != 0;
          };
      if (on) {
        access.add(flag);
      }
    }
    return access;
  }
}

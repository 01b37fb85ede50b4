package org.hghca.driver;

import static org.hghca.abi.QueuePairContext.ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.DESTINATION_IP;
import static org.hghca.abi.QueuePairContext.FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.HAS_GRH;
import static org.hghca.abi.QueuePairContext.HAS_SRQ;
import static org.hghca.abi.QueuePairContext.HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.MAX_DEST_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MAX_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MGID_INDEX;
import static org.hghca.abi.QueuePairContext.MIN_RNR_TIMER;
import static org.hghca.abi.QueuePairContext.MSG_MAX;
import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.OPT_PARAM_MASK;
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
import static org.hghca.abi.QueuePairContext.SOURCE_IP;
import static org.hghca.abi.QueuePairContext.SQ_ENTRY_SIZE;
import static org.hghca.abi.QueuePairContext.SRQN;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.TRAFFIC_CLASS;
import static org.hghca.abi.QueuePairContext.USR_PAGE;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MailboxField;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/** Translates between the attributes of verbs and the card's context (tables 3-2-40 and 3-2-41). */
final class QpContexts {
  /** The card's numbers of the states, which swap SQD and SQE against those of libibverbs. */
  private static final QpState[] STATES = {
    QpState.RESET, QpState.INIT, QpState.RTR, QpState.RTS, QpState.SQE, QpState.SQD, QpState.ERR
  };

  /** 2^31 bytes. */
  private static final int MAX_MESSAGE_LOG = 31;

  private static final Set<AccessFlag> REMOTE =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

  /** What a queue pair keeps when it goes back to RESET. */
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

  /** The context of a queue pair that was just made, in state RST. */
  static QueuePairContext fresh(HghcaQueuePair qp, QueueGeometry geometry) {
    QueuePairContext c = new QueuePairContext();
    c.set(STATE, QpcState.RST);
    c.set(SERVICE_TYPE, serviceType(qp.type()));
    c.set(MSG_MAX, MAX_MESSAGE_LOG);
    // A datagram is one packet, and there is no path whose MTU could be set.
    Mtu mtu = qp.type() == QpType.UD ? qp.domain().deviceContext().port().mtu() : Mtu.MTU_256;
    c.set(MTU, mtu.code());
    c.set(SQ_ENTRY_SIZE, geometry.sendStrideLog());
    c.set(RQ_ENTRY_SIZE, geometry.receiveStrideLog());
    c.set(USR_PAGE, qp.domain().deviceContext().uar().index());
    c.set(LOCAL_QPN, qp.number());
    c.set(PD, qp.domain().number());
    c.set(SEND_CQN, qp.sendCompletionQueue().number());
    c.set(RECEIVE_CQN, qp.receiveCompletionQueue().number());
    c.set(SEND_WQE_LKEY, qp.memory().sendKey());
    c.set(SEND_WQE_LENGTH, (int) geometry.sendBytes());
    c.set(RECEIVE_WQE_LKEY, qp.memory().receiveKey());
    c.set(RECEIVE_WQE_LENGTH, (int) geometry.receiveBytes());
    c.set(SEND_RING_OFFSET, qp.memory().sendOffset());
    c.set(RECEIVE_RING_OFFSET, qp.memory().receiveOffset());
    qp.tellShare(c);
    return c;
  }

  private static int serviceType(QpType type) {
    return switch (type) {
      case RC -> QpcServiceType.RC;
      case UC -> QpcServiceType.UC;
      case UD -> QpcServiceType.UD;
    };
  }

  /** What stays of a context in state RST: queues, numbers, keys; no peer, no sequence numbers. */
  static QueuePairContext reset(QueuePairContext old) {
    QueuePairContext c = new QueuePairContext();
    for (MailboxField field : KEPT_IN_RESET) {
      c.set(field, old.get(field));
    }
    return c.set(STATE, QpcState.RST);
  }

  /**
   * Puts attributes into a context. That the end of draining is to be told is a bit of the mask and
   * nothing else: it is left out where it is not to be told.
   *
   * @throws VerbsException EINVAL when a value is not possible on this device, EOPNOTSUPP for a
   *     state that it has not
   */
  static void apply(QpAttributes a, QpState to, QueuePairContext c, DeviceContext device) {
    HardwareProfile profile = device.hghca().card().limits().profile();
    if (!profile.sqdSqeStates() && (to == QpState.SQD || to == QpState.SQE)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "the card drops what is posted in %s: move the queue pair to ERR instead".formatted(to));
    }
    c.set(STATE, code(to));
    int mask = 0;
    for (QpAttribute attribute : a.mask()) {
      if (attribute != QpAttribute.EN_SQD_ASYNC_NOTIFY || a.sqdNotify()) {
        mask |= attribute.bit();
      }
      apply(attribute, a, c, device);
    }
    if (a.mask().contains(QpAttribute.AV) && a.addressVector().flowLabel() == 0) {
      c.set(FLOW_LABEL, device.entropy().flowLabel(c.get(LOCAL_QPN), c.get(REMOTE_QPN)));
    }
    c.set(OPT_PARAM_MASK, mask);
  }

  private static void apply(
      QpAttribute attribute, QpAttributes a, QueuePairContext c, DeviceContext device) {
    switch (attribute) {
      case PORT -> {
        device.port().check(a.port());
        c.set(PORT, a.port());
      }
      case PKEY_INDEX -> {
        device.port().checkPkeyIndex(a.pkeyIndex());
        c.set(PKEY_INDEX, a.pkeyIndex());
      }
      case ACCESS_FLAGS -> {
        c.set(REMOTE_READ_ENABLE, a.access().contains(AccessFlag.REMOTE_READ) ? 1 : 0);
        c.set(REMOTE_WRITE_ENABLE, a.access().contains(AccessFlag.REMOTE_WRITE) ? 1 : 0);
        c.set(REMOTE_ATOMIC_ENABLE, a.access().contains(AccessFlag.REMOTE_ATOMIC) ? 1 : 0);
      }
      case QKEY -> c.set(QKEY, a.qkey());
      case AV -> addressVector(a.addressVector(), c, device);
      case PATH_MTU -> {
        Mtu most = device.port().mtu();
        if (a.pathMtu().compareTo(most) > 0) {
          throw new VerbsException(
              Errno.EINVAL,
              "path MTU %d is beyond the port's %d".formatted(a.pathMtu().bytes(), most.bytes()));
        }
        c.set(MTU, a.pathMtu().code());
      }
      case DEST_QPN -> c.set(REMOTE_QPN, a.destinationQpn());
      case RQ_PSN -> c.set(NEXT_RECEIVE_PSN, a.receivePsn());
      case SQ_PSN -> sendFrom(expectsDatagramsInOrder(c, device) ? 0 : a.sendPsn(), c);
      case TIMEOUT -> c.set(ACK_TIMEOUT, a.timeout());
      case RETRY_CNT -> c.set(RETRY_COUNT, a.retryCount());
      case RNR_RETRY -> c.set(RNR_RETRY, a.rnrRetry());
      case MIN_RNR_TIMER -> c.set(MIN_RNR_TIMER, a.minRnrTimer());
      case MAX_QP_RD_ATOMIC -> c.set(MAX_RD_ATOMIC, readAtomicLog(a.maxReadAtomic(), device));
      case MAX_DEST_RD_ATOMIC ->
          c.set(MAX_DEST_RD_ATOMIC, readAtomicLog(a.maxDestinationReadAtomic(), device));
      case STATE, CUR_STATE, EN_SQD_ASYNC_NOTIFY -> {}
      case ALT_PATH, PATH_MIG_STATE, CAP ->
          throw new VerbsException(Errno.EOPNOTSUPP, attribute + " is not supported");
    }
  }

  /** Nothing was sent yet, and this is the first PSN. */
  static void sendFrom(int psn, QueuePairContext c) {
    c.set(NEXT_SEND_PSN, psn);
    c.set(LAST_ACKED_PSN, psn); // the oldest unacknowledged one: all are, at the start
  }

  /** The RTL drops a datagram with a PSN other than the next: both ends begin with 0. */
  private static boolean expectsDatagramsInOrder(QueuePairContext c, DeviceContext device) {
    return c.get(SERVICE_TYPE) == QpcServiceType.UD
        && !device.hghca().card().limits().profile().rnrAndTimeoutInHardware();
  }

  private static int readAtomicLog(int count, DeviceContext device) {
    int most = device.hghca().card().limits().maxReadAtomic();
    if (count > most) {
      throw new VerbsException(
          Errno.EINVAL, "%d READs outstanding: the device takes %d".formatted(count, most));
    }
    return count <= 1 ? 0 : 32 - Integer.numberOfLeadingZeros(count - 1);
  }

  private static void addressVector(AddressVector av, QueuePairContext c, DeviceContext device) {
    Port port = device.port();
    Gid own = port.check(av);
    c.set(HAS_GRH, 1);
    c.set(MGID_INDEX, av.sourceGidIndex());
    c.set(HOP_LIMIT, av.hopLimit());
    c.set(SL, av.serviceLevel());
    c.set(TRAFFIC_CLASS, av.trafficClass());
    c.set(FLOW_LABEL, av.flowLabel());
    c.setLong(REMOTE_GID_HIGH, av.destination().subnetPrefix());
    c.setLong(REMOTE_GID_LOW, av.destination().interfaceId());
    c.sourceMac(port.address().mac());
    c.destinationMac(port.macOf(av.destination()));
    c.set(SOURCE_IP, own.ipv4().orElse(0));
    c.set(DESTINATION_IP, av.destination().ipv4().orElse(0));
  }

  /**
   * A context as MODIFY_QP gives it to the card. In INIT a connection of the first RTL acknowledges
   * messages and drops them: there the card is told ERR, in which it refuses them, so that a peer
   * that begins too early hears of it.
   */
  static QueuePairContext forCard(QueuePairContext c, HardwareProfile profile) {
    QueuePairContext given = profile.misplacesSequenceNumbers() ? LivePsns.marked(c) : c;
    boolean loses = profile.initAcknowledges() && c.get(SERVICE_TYPE) == QpcServiceType.RC;
    return loses && c.get(STATE) == QpcState.INIT ? given.copy().set(STATE, QpcState.ERR) : given;
  }

  /** Takes over what the card counts while messages flow. */
  static void copySequenceNumbers(QueuePairContext from, QueuePairContext to) {
    to.set(NEXT_SEND_PSN, from.get(NEXT_SEND_PSN));
    to.set(LAST_ACKED_PSN, from.get(LAST_ACKED_PSN));
    to.set(NEXT_RECEIVE_PSN, from.get(NEXT_RECEIVE_PSN));
  }

  /** The logarithm of the largest packet's bytes. */
  static int packetLog(QueuePairContext c) {
    return Integer.numberOfTrailingZeros(Mtu.of(c.get(MTU)).bytes());
  }

  /** The state that a context is in. */
  static QpState state(QueuePairContext c) {
    int code = c.get(STATE);
    if (code >= STATES.length) {
      throw new VerbsException(
          Errno.EIO, "the device reports the invalid queue pair state %d".formatted(code));
    }
    return STATES[code];
  }

  private static int code(QpState state) {
    for (int code = 0; code < STATES.length; code++) {
      if (STATES[code] == state) {
        return code;
      }
    }
    throw new IllegalArgumentException(state.toString());
  }

  /** The attributes that a context holds. */
  static QpAttributes attributes(QueuePairContext c, QpState state) {
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

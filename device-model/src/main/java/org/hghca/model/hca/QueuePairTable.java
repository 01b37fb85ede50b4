package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MailboxField;
import org.hghca.abi.OptParamMask;
import org.hghca.abi.PathMigration;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.ContextStore;
import org.hghca.model.transport.IpPath;
import org.hghca.model.transport.Migration;
import org.hghca.model.transport.QueuePairState;
import org.hghca.model.transport.Service;

/**
 * The contexts of the queue pairs, which are in interconnect context memory as MODIFY_QP wrote
 * them: 192 bytes, big-endian, at the start of a slot of 256. In addition, the card only records
 * which ones were ever set; the others are in RESET, independent of the memory content. A context
 * names one of the services RC, UC and UD, and keeps it until RESET.
 */
final class QueuePairTable implements ContextStore {
  private static final int SIZE = QueuePairContext.LAYOUT.size();
  private static final int MTU_256 = 1;
  private static final int MTU_4096 = 5;
  private static final int PSN_MASK = 0xff_ffff;
  private static final int PATHS =
      OptParamMask.AV | OptParamMask.ALT_PATH | OptParamMask.PATH_MIG_STATE;
  private static final QueuePairState[] STATES = QueuePairState.values();

  private final HostMemory host;
  private final Icm icm;
  private final LocalGids gids;
  private final BitSet set = new BitSet();
  private final MemorySegment image = Arena.ofAuto().allocate(SIZE, 64);
  private final TableEntries entries;

  /** What a queue pair's context was decoded to. */
  private static final class Decoded {
    /** What {@link #context} was decoded from, or is stored as. */
    final MemorySegment image = Arena.ofAuto().allocate(SIZE, 64);

    ConnectionContext context;

    /** It is good for this number of commands, in this epoch. */
    long commands;

    long epoch;
  }

  /** By queue pair number; null for those that were never loaded. */
  private Decoded[] decoded = new Decoded[64];

  /** The bytes of an entry that have changed, from and to below. */
  private int changedFrom;

  private int changedTo;

  /** Number of contexts that were decoded. */
  private long readings;

  /** Number of commands that may have changed contexts, or what they are decoded to. */
  private long commands;

  QueuePairTable(HostMemory host, Icm icm, LocalGids gids) {
    this.host = host;
    this.icm = icm;
    this.gids = gids;
    this.entries = new TableEntries(host, qpn -> icm.queuePair((int) qpn), SIZE);
  }

  /** What contexts were decoded to may have changed. */
  void forgetDecoded() {
    commands++;
  }

  private Decoded decoded(int qpn) {
    if (qpn >= decoded.length) {
      decoded = Arrays.copyOf(decoded, Math.max(qpn + 1, 2 * decoded.length));
    }
    if (decoded[qpn] == null) {
      decoded[qpn] = new Decoded();
    }
    return decoded[qpn];
  }

  /** Whether a context is what its entry would be decoded to: only the card writes it. */
  private boolean isCurrent(Decoded known, ConnectionContext context) {
    return known.context == context && known.commands == commands && entries.isGood(known.epoch);
  }

  /** Takes all queue pairs to RESET. */
  void reset() {
    set.clear();
    forgetDecoded();
  }

  /** The state of a queue pair, {@link QpcState}, or -1 when its context cannot be read. */
  int state(int qpn) {
    if (!set.get(qpn)) {
      return QpcState.RST;
    }
    return read(qpn) ? QueuePairContext.STATE.get(image) : -1;
  }

  /**
   * MODIFY_QP with a context: it replaces the current one, except for packet sequence numbers that
   * the queue pair counts itself in its state, and for paths that it exchanges itself.
   *
   * @return whether the command allows the transition and the context can be stored
   */
  boolean modify(HcrCommand command, int qpn, MemorySegment mailbox) {
    long at = icm.queuePair(qpn);
    int from = at == Icm.NONE ? -1 : state(qpn);
    int to = QueuePairContext.STATE.get(mailbox);
    if (from < 0
        || !isTransition(command, from, to)
        || !isComplete(to, mailbox)
        || from != QpcState.RST && to != QpcState.RST && !isOfOneService(mailbox)) {
      return false;
    }
    if (to == QpcState.RST) {
      QueuePairContext.LAYOUT.clear(mailbox);
    } else if (sends(from)) {
      QueuePairContext.NEXT_SEND_PSN.set(mailbox, QueuePairContext.NEXT_SEND_PSN.get(image));
      QueuePairContext.LAST_ACKED_PSN.set(mailbox, QueuePairContext.LAST_ACKED_PSN.get(image));
    }
    if (to != QpcState.RST && (sends(from) || from == QpcState.RTR)) {
      QueuePairContext.NEXT_RECEIVE_PSN.set(mailbox, QueuePairContext.NEXT_RECEIVE_PSN.get(image));
    }
    if (from != QpcState.RST // which has not read the image
        && to != QpcState.RST
        && PathMigration.hasAlternate(image)
        && (QueuePairContext.OPT_PARAM_MASK.get(mailbox) & PATHS) == 0) {
      PathMigration.copy(image, mailbox);
    }
    if (!host.writeTable(at, mailbox, SIZE)) {
      return false;
    }
    forgetDecoded();
    set.set(qpn, to != QpcState.RST);
    return true;
  }

  /**
   * MODIFY_QP to RESET without a context.
   *
   * @return false when the queue pair's place in ICM cannot be reached
   */
  boolean clear(int qpn) {
    image.fill((byte) 0);
    long at = icm.queuePair(qpn);
    if (at == Icm.NONE || !host.writeTable(at, image, SIZE)) {
      return false;
    }
    forgetDecoded();
    set.clear(qpn);
    return true;
  }

  /**
   * QUERY_QP.
   *
   * @return the context, {@code null} when it cannot be read; good until the next call of any kind
   */
  MemorySegment query(int qpn) {
    if (icm.queuePair(qpn) == Icm.NONE || set.get(qpn) && !read(qpn)) {
      return null;
    }
    if (!set.get(qpn)) {
      image.fill((byte) 0);
    }
    return image;
  }

  /** Whether the queue pair counts send PSNs itself in a state. */
  private static boolean sends(int state) {
    return state == QpcState.RTS
        || state == QpcState.SQD
        || state == QpcState.SQE
        || state == QpcState.ERR;
  }

  /** Whether a command leads from one state to another (tables 3-2-1 and A1-2). */
  private static boolean isTransition(HcrCommand command, int from, int to) {
    return switch (command) {
      case RST2INIT -> from == QpcState.RST && to == QpcState.INIT;
      case INIT2INIT -> from == QpcState.INIT && to == QpcState.INIT;
      case INIT2RTR -> from == QpcState.INIT && to == QpcState.RTR;
      case RTR2RTS -> from == QpcState.RTR && to == QpcState.RTS;
      case RTS2RTS -> from == QpcState.RTS && to == QpcState.RTS;
      case SQERR2RTS -> from == QpcState.SQE && to == QpcState.RTS;
      case RTS2SQD -> from == QpcState.RTS && to == QpcState.SQD;
      case SQD2SQD -> from == QpcState.SQD && to == QpcState.SQD;
      case SQD2RTS -> from == QpcState.SQD && to == QpcState.RTS;
      case ANY2ERR -> to == QpcState.ERR;
      case ERR2RST -> to == QpcState.RST;
      default -> false;
    };
  }

  /** Whether a context has a supported service, and an MTU where it is needed. */
  private static boolean isComplete(int to, MemorySegment mailbox) {
    int mtu = QueuePairContext.MTU.get(mailbox);
    return to == QpcState.RST
        || service(mailbox) != null
            && (to == QpcState.INIT || to == QpcState.ERR || mtu >= MTU_256 && mtu <= MTU_4096);
  }

  /** Whether a context has the same service as the one read last. */
  private boolean isOfOneService(MemorySegment mailbox) {
    return service(mailbox) == service(image);
  }

  /** The service of a context, null for an unsupported one. */
  private static Service service(MemorySegment context) {
    return switch (QueuePairContext.SERVICE_TYPE.get(context)) {
      case QpcServiceType.RC -> Service.RC;
      case QpcServiceType.UC -> Service.UC;
      case QpcServiceType.UD -> Service.UD;
      default -> null;
    };
  }

  private boolean read(int qpn) {
    long at = icm.queuePair(qpn);
    return at != Icm.NONE && host.readTable(at, image, SIZE);
  }

  @Override
  public boolean load(int qpn, ConnectionContext context) {
    if (!set.get(qpn)) {
      return false;
    }
    Decoded known = decoded(qpn);
    if (isCurrent(known, context)) {
      return true;
    }
    known.context = null;
    MemorySegment entry = entries.read(qpn);
    if (entry == null) {
      return false;
    }
    image.copyFrom(entry);
    Service service = service(image);
    if (service == null) {
      return false;
    }
    decode(qpn, service, context);
    known.image.copyFrom(image);
    known.context = context;
    known.commands = commands;
    known.epoch = entries.epoch();
    return true;
  }

  private void decode(int qpn, Service service, ConnectionContext context) {
    context.reading = ++readings;
    int state = QueuePairContext.STATE.get(image);
    int mtu = QueuePairContext.MTU.get(image);
    context.qpn = qpn;
    context.service = service;
    context.state = state < STATES.length ? STATES[state] : QueuePairState.ERR;
    context.mtu = mtu >= MTU_256 && mtu <= MTU_4096 ? 128 << mtu : 0;
    context.remoteQpn = QueuePairContext.REMOTE_QPN.get(image);
    context.pd = QueuePairContext.PD.get(image);
    context.sourceMac =
        mac(QueuePairContext.SMAC_HIGH.get(image), QueuePairContext.SMAC_LOW.get(image));
    context.destinationMac =
        mac(QueuePairContext.DMAC_HIGH.get(image), QueuePairContext.DMAC_LOW.get(image));
    loadAddresses(context.path);
    loadPath(context);
    loadAlternate(context);
    context.nextSendPsn = QueuePairContext.NEXT_SEND_PSN.get(image) & PSN_MASK;
    context.oldestUnackedPsn = QueuePairContext.LAST_ACKED_PSN.get(image) & PSN_MASK;
    context.expectedPsn = QueuePairContext.NEXT_RECEIVE_PSN.get(image);
    context.ackTimeout = QueuePairContext.ACK_TIMEOUT.get(image);
    context.retryCount = QueuePairContext.RETRY_COUNT.get(image);
    context.rnrRetry = QueuePairContext.RNR_RETRY.get(image) & 7;
    context.minRnrTimer = QueuePairContext.MIN_RNR_TIMER.get(image) & 0x1f;
    context.maxReads = 1 << QueuePairContext.MAX_RD_ATOMIC.get(image);
    context.maxReadsServed = 1 << QueuePairContext.MAX_DEST_RD_ATOMIC.get(image);
    context.remoteWrite = QueuePairContext.REMOTE_WRITE_ENABLE.get(image) != 0;
    context.remoteRead = QueuePairContext.REMOTE_READ_ENABLE.get(image) != 0;
    context.remoteAtomic = QueuePairContext.REMOTE_ATOMIC_ENABLE.get(image) != 0;
    context.queueKey = QueuePairContext.QKEY.get(image);
    context.sendCqn = QueuePairContext.SEND_CQN.get(image);
    context.receiveCqn = QueuePairContext.RECEIVE_CQN.get(image);
    context.sendQueueKey = QueuePairContext.SEND_WQE_LKEY.get(image);
    context.sendQueueLength = QueuePairContext.SEND_WQE_LENGTH.get(image);
    context.receiveQueueKey = QueuePairContext.RECEIVE_WQE_LKEY.get(image);
    context.receiveQueueLength = QueuePairContext.RECEIVE_WQE_LENGTH.get(image);
    context.sendQueueOffset = QueuePairContext.SEND_RING_OFFSET.getLong(image);
    context.receiveQueueOffset = QueuePairContext.RECEIVE_RING_OFFSET.getLong(image);
    context.sharedQueue =
        QueuePairContext.HAS_SRQ.get(image) != 0
            ? QueuePairContext.SRQN.get(image)
            : ConnectionContext.NO_SHARED_QUEUE;
    context.receiveSlotLog = QueuePairContext.RQ_ENTRY_SIZE.get(image);
  }

  private void loadPath(ConnectionContext context) {
    context.path.service(
        QueuePairContext.TRAFFIC_CLASS.get(image), QueuePairContext.HOP_LIMIT.get(image));
    loadFlow(context, context.path, QueuePairContext.FLOW_LABEL.get(image));
  }

  private void loadFlow(ConnectionContext context, IpPath path, int label) {
    if (label == 0 && QueuePairContext.PORT_BY_NUMBERS.get(image) != 0) {
      path.portOnly(context.qpn, context.remoteQpn);
    } else {
      path.flow(label, context.qpn, context.remoteQpn);
    }
  }

  private void loadAddresses(IpPath path) {
    int source = QueuePairContext.MGID_INDEX.get(image);
    if (gids.isIpv6(source)) {
      path.source(gids.high(source), gids.low(source));
      path.destination(
          QueuePairContext.REMOTE_GID_HIGH.getLong(image),
          QueuePairContext.REMOTE_GID_LOW.getLong(image));
    } else {
      path.ipv4(QueuePairContext.SOURCE_IP.get(image), QueuePairContext.DESTINATION_IP.get(image));
    }
  }

  private void loadAlternate(ConnectionContext context) {
    context.migration = Migration.of(QueuePairContext.MIGRATION.get(image));
    context.migrated = false;
    if (context.migration == Migration.MIGRATED) {
      return;
    }
    int source = QueuePairContext.ALTERNATE_MGID_INDEX.get(image);
    long high = QueuePairContext.ALTERNATE_GID_HIGH.getLong(image);
    long low = QueuePairContext.ALTERNATE_GID_LOW.getLong(image);
    context.alternatePath.source(gids.high(source), gids.low(source));
    context.alternatePath.destination(high, low);
    context.alternatePath.service(
        QueuePairContext.ALTERNATE_TRAFFIC_CLASS.get(image),
        QueuePairContext.ALTERNATE_HOP_LIMIT.get(image));
    loadFlow(context, context.alternatePath, QueuePairContext.ALTERNATE_FLOW_LABEL.get(image));
    context.alternateMac =
        mac(
            QueuePairContext.ALTERNATE_DMAC_HIGH.get(image),
            QueuePairContext.ALTERNATE_DMAC_LOW.get(image));
    context.alternateAckTimeout = QueuePairContext.ALTERNATE_ACK_TIMEOUT.get(image);
  }

  private static long mac(int high, int low) {
    return Integer.toUnsignedLong(high) << 16 | low;
  }

  @Override
  public void store(ConnectionContext context) {
    Decoded known = decoded(context.qpn);
    if (!context.migrated && isCurrent(known, context)) {
      store(context, known.image);
      return;
    }
    known.context = null;
    MemorySegment entry = entries.read(context.qpn);
    if (entry == null) {
      return;
    }
    image.copyFrom(entry);
    if (context.migrated) {
      int source = QueuePairContext.ALTERNATE_MGID_INDEX.get(image);
      PathMigration.migrate(image, gids.ipv4(source));
      put(context, image);
      host.writeTable(icm.queuePair(context.qpn), image, SIZE);
    } else {
      store(context, image);
    }
  }

  /** Stores what the card changes in a context; {@code target} is its entry as it is now. */
  private void store(ConnectionContext context, MemorySegment target) {
    changedFrom = SIZE;
    changedTo = 0;
    put(context, target);
    if (changedFrom < changedTo) {
      host.writeTable(
          icm.queuePair(context.qpn) + changedFrom, target, changedFrom, changedTo - changedFrom);
    }
  }

  private void put(ConnectionContext context, MemorySegment target) {
    put(QueuePairContext.MIGRATION, target, context.migration.ordinal());
    put(QueuePairContext.STATE, target, context.state.ordinal());
    put(QueuePairContext.NEXT_SEND_PSN, target, context.nextSendPsn);
    put(QueuePairContext.LAST_ACKED_PSN, target, context.oldestUnackedPsn);
    put(QueuePairContext.NEXT_RECEIVE_PSN, target, context.expectedPsn);
  }

  private void put(MailboxField field, MemorySegment target, int value) {
    if (field.get(target) != value) {
      field.set(target, value);
      changedFrom = Math.min(changedFrom, field.offset());
      changedTo = Math.max(changedTo, field.end());
    }
  }
}

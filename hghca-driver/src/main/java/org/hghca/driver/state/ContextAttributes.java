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
import static org.hghca.abi.QueuePairContext.DESTINATION_IP;
import static org.hghca.abi.QueuePairContext.FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.HAS_GRH;
import static org.hghca.abi.QueuePairContext.HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.MAX_DEST_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MAX_RD_ATOMIC;
import static org.hghca.abi.QueuePairContext.MGID_INDEX;
import static org.hghca.abi.QueuePairContext.MIGRATION;
import static org.hghca.abi.QueuePairContext.MIN_RNR_TIMER;
import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.OPT_PARAM_MASK;
import static org.hghca.abi.QueuePairContext.PKEY_INDEX;
import static org.hghca.abi.QueuePairContext.PORT;
import static org.hghca.abi.QueuePairContext.PORT_BY_NUMBERS;
import static org.hghca.abi.QueuePairContext.QKEY;
import static org.hghca.abi.QueuePairContext.REMOTE_ATOMIC_ENABLE;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_HIGH;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_LOW;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;
import static org.hghca.abi.QueuePairContext.REMOTE_READ_ENABLE;
import static org.hghca.abi.QueuePairContext.REMOTE_WRITE_ENABLE;
import static org.hghca.abi.QueuePairContext.RETRY_COUNT;
import static org.hghca.abi.QueuePairContext.RNR_RETRY;
import static org.hghca.abi.QueuePairContext.SL;
import static org.hghca.abi.QueuePairContext.SOURCE_IP;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.TRAFFIC_CLASS;

import java.util.function.Supplier;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.PathMigration;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.card.Limits;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;

/**
 * Puts attributes of verbs into the card's context of a queue pair (tables 3-2-40 and 3-2-41), as a
 * device context takes them. Thread-safe.
 */
public final class ContextAttributes {
  private final Limits limits;
  private final Port port;
  private final Supplier<RoceEntropy> entropy;

  /**
   * Attributes of queue pairs of a device context.
   *
   * @param entropy the current selection of flow labels
   */
  public ContextAttributes(Limits limits, Port port, Supplier<RoceEntropy> entropy) {
    this.limits = limits;
    this.port = port;
    this.entropy = entropy;
  }

  /**
   * Puts attributes into a context. The notification of the end of draining is only a mask bit,
   * which is set if it is requested.
   *
   * @throws VerbsException EINVAL for a value that this device does not support, EOPNOTSUPP for an
   *     attribute that it does not have
   */
  public void apply(QpAttributes a, QpState to, QueuePairContext c) {
    c.set(STATE, QpContexts.code(to));
    int mask = 0;
    for (QpAttribute attribute : a.mask()) {
      if (attribute != QpAttribute.EN_SQD_ASYNC_NOTIFY || a.sqdNotify()) {
        mask |= attribute.bit();
      }
      apply(attribute, a, c);
    }
    if (a.mask().contains(QpAttribute.AV) && a.addressVector().flowLabel() == 0) {
      RoceEntropy version = entropy.get();
      c.set(FLOW_LABEL, version.flowLabel(c.get(LOCAL_QPN), c.get(REMOTE_QPN)));
      boolean portOnly = version == RoceEntropy.V1 && limits.has(DeviceExtension.FLOW_LABELS);
      c.set(PORT_BY_NUMBERS, portOnly ? 1 : 0);
    }
    c.set(OPT_PARAM_MASK, mask);
  }

  /** Whether the destination of a context is its own port. */
  public boolean leadsBack(QueuePairContext c) {
    return c.destinationMac() == port.address().mac();
  }

  private void apply(QpAttribute attribute, QpAttributes a, QueuePairContext c) {
    switch (attribute) {
      case PORT -> {
        port.check(a.port());
        c.set(PORT, a.port());
        // By the document a datagram has the source of its element, on other cards that of the
        // context: docs/hardware.md, "source of a datagram".
        source(port.address().ip(), c);
      }
      case PKEY_INDEX -> {
        port.checkPkeyIndex(a.pkeyIndex());
        c.set(PKEY_INDEX, a.pkeyIndex());
      }
      case ACCESS_FLAGS -> {
        c.set(REMOTE_READ_ENABLE, a.access().contains(AccessFlag.REMOTE_READ) ? 1 : 0);
        c.set(REMOTE_WRITE_ENABLE, a.access().contains(AccessFlag.REMOTE_WRITE) ? 1 : 0);
        c.set(REMOTE_ATOMIC_ENABLE, a.access().contains(AccessFlag.REMOTE_ATOMIC) ? 1 : 0);
      }
      case QKEY -> c.set(QKEY, a.qkey());
      case AV -> addressVector(a.addressVector(), c);
      case PATH_MTU -> {
        Mtu most = port.mtu();
        if (a.pathMtu().compareTo(most) > 0) {
          throw new VerbsException(
              Errno.EINVAL,
              "path MTU %d is beyond the port's %d".formatted(a.pathMtu().bytes(), most.bytes()));
        }
        c.set(MTU, a.pathMtu().code());
      }
      case DEST_QPN -> c.set(REMOTE_QPN, a.destinationQpn());
      case RQ_PSN -> c.set(NEXT_RECEIVE_PSN, a.receivePsn());
      case SQ_PSN -> QpContexts.sendFrom(a.sendPsn(), c);
      case TIMEOUT -> c.set(ACK_TIMEOUT, a.timeout());
      case RETRY_CNT -> c.set(RETRY_COUNT, a.retryCount());
      case RNR_RETRY -> c.set(RNR_RETRY, a.rnrRetry());
      case MIN_RNR_TIMER -> c.set(MIN_RNR_TIMER, a.minRnrTimer());
      case MAX_QP_RD_ATOMIC -> c.set(MAX_RD_ATOMIC, readAtomicLog(a.maxReadAtomic()));
      case MAX_DEST_RD_ATOMIC ->
          c.set(MAX_DEST_RD_ATOMIC, readAtomicLog(a.maxDestinationReadAtomic()));
      case STATE, CUR_STATE, EN_SQD_ASYNC_NOTIFY -> {}
      case ALT_PATH -> alternatePath(a.alternatePath(), c);
      case PATH_MIG_STATE -> migration(a.pathMigration(), c);
      case CAP -> throw new VerbsException(Errno.EOPNOTSUPP, attribute + " is not supported");
    }
  }

  private int readAtomicLog(int count) {
    int most = limits.maxReadAtomic();
    if (count > most) {
      throw new VerbsException(
          Errno.EINVAL, "%d READs outstanding: the device takes %d".formatted(count, most));
    }
    return count <= 1 ? 0 : 32 - Integer.numberOfLeadingZeros(count - 1);
  }

  private void addressVector(AddressVector av, QueuePairContext c) {
    Gid own = port.check(av);
    checkOne(av.destination());
    c.set(HAS_GRH, 1);
    c.set(MGID_INDEX, av.sourceGidIndex());
    c.set(HOP_LIMIT, av.hopLimit());
    c.set(SL, av.serviceLevel());
    c.set(TRAFFIC_CLASS, av.trafficClass());
    c.set(FLOW_LABEL, av.flowLabel());
    c.setLong(REMOTE_GID_HIGH, av.destination().subnetPrefix());
    c.setLong(REMOTE_GID_LOW, av.destination().interfaceId());
    source(own.ipv4().orElse(0), c); // an IPv6 source is that of the index
    c.destinationMac(port.macOf(av.destination()));
    c.set(DESTINATION_IP, av.destination().ipv4().orElse(0));
  }

  private void source(int ip, QueuePairContext c) {
    c.sourceMac(port.address().mac());
    c.set(SOURCE_IP, ip);
  }

  private void alternatePath(AlternatePath path, QueuePairContext c) {
    checkAlternatePaths();
    AddressVector av = path.vector();
    port.check(av);
    checkOne(av.destination());
    port.checkPkeyIndex(path.pkeyIndex());
    c.set(ALTERNATE_ACK_TIMEOUT, path.timeout());
    c.set(ALTERNATE_MGID_INDEX, av.sourceGidIndex());
    c.set(ALTERNATE_HOP_LIMIT, av.hopLimit());
    c.set(ALTERNATE_SL, av.serviceLevel());
    c.set(ALTERNATE_TRAFFIC_CLASS, av.trafficClass());
    c.set(ALTERNATE_FLOW_LABEL, av.flowLabel());
    c.setLong(ALTERNATE_GID_HIGH, av.destination().subnetPrefix());
    c.setLong(ALTERNATE_GID_LOW, av.destination().interfaceId());
    c.alternateDestinationMac(port.macOf(av.destination()));
  }

  /** The context has the state that the device is in. */
  private void migration(PathMigrationState to, QueuePairContext c) {
    checkAlternatePaths();
    int from = c.get(MIGRATION);
    boolean exists =
        switch (to) {
          case MIGRATED -> from != PathMigration.REARM;
          case REARM -> PathMigration.hasAlternate(c);
          case ARMED -> false;
        };
    if (!exists) {
      throw new VerbsException(
          Errno.EINVAL,
          "the path migration state cannot go from %s to %s: REARM needs an alternate path, ARMED"
                  .formatted(PathMigrationState.values()[from], to)
              + " comes from the device once the peer has rearmed too, MIGRATED follows ARMED");
    }
    if (to == PathMigrationState.REARM) {
      c.set(MIGRATION, PathMigration.REARM);
    } else if (from == PathMigration.ARMED) {
      c.migrate(port.gid(1, c.get(ALTERNATE_MGID_INDEX)).ipv4().orElse(0));
    }
  }

  private void checkAlternatePaths() {
    if (!limits.has(DeviceExtension.ALTERNATE_PATHS)
        || !limits.has(DeviceExtension.IPV6_ADDRESSES)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "alternate paths: this device has none, only a software HCA of profile s does");
    }
  }

  private static void checkOne(Gid destination) {
    if (destination.isMulticast()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is a multicast group: only datagrams can be sent there".formatted(destination));
    }
  }
}

package org.hghca.cm;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.hghca.cm.device.Releases;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;

/**
 * The queue pair of an identifier, if it has one, its transitions and its multicast groups. Guarded
 * by the monitor of the {@link Lifecycle}.
 */
final class IdQueuePair {
  private static final ConditionLog LOG = ConditionLog.of(IdQueuePair.class);

  private final PortSpace space;
  private final Set<Gid> groups = new HashSet<>();
  private Optional<QueuePair> queuePair = Optional.empty();

  IdQueuePair(PortSpace space) {
    this.space = space;
  }

  Optional<QueuePair> get() {
    return queuePair;
  }

  /**
   * Makes it: in INIT for a connection, in RTS for datagrams.
   *
   * @param context of the identifier
   * @param port of the device, from 1
   * @throws VerbsException EINVAL when there is one already, for a type of another port space, or a
   *     protection domain of another device
   */
  QueuePair create(Context context, int port, ProtectionDomain domain, QueuePairConfig config) {
    if (queuePair.isPresent()) {
      throw new VerbsException(Errno.EINVAL, "the identifier has a queue pair");
    }
    if (!space.takes(config.type())) {
      throw new VerbsException(
          Errno.EINVAL, "a %s queue pair in port space %s".formatted(config.type(), space));
    }
    if (!domain.context().device().equals(context.device())) {
      throw new VerbsException(
          Errno.EINVAL,
          "the protection domain is of %s, the identifier's address of %s"
              .formatted(domain.context().device().name(), context.device().name()));
    }
    QueuePair made = domain.createQueuePair(config);
    try {
      if (space == PortSpace.UDP) {
        made.modify(datagrams(QpState.INIT, port));
        made.modify(datagrams(QpState.RTR, port));
        made.modify(datagrams(QpState.RTS, port));
      } else {
        made.modify(init(context, port));
      }
    } catch (VerbsException e) {
      made.close();
      throw e;
    }
    queuePair = Optional.of(made);
    return made;
  }

  /**
   * The attributes that bring a queue pair to a state.
   *
   * @param setup of the connection; asked for RTR and RTS of a connected queue pair
   * @throws VerbsException EINVAL for another state than INIT, RTR and RTS
   */
  QpAttributes attributes(QpState to, Context context, int port, Supplier<QpSetup> setup) {
    if (space == PortSpace.UDP) {
      return datagrams(to, port);
    }
    return switch (to) {
      case INIT -> init(context, port);
      case RTR -> setup.get().rtr();
      case RTS -> setup.get().rts();
      default -> throw noAttributes(to);
    };
  }

  private static QpAttributes init(Context context, int port) {
    return QpSetup.init(port, QpSetup.access(context, 1));
  }

  private static QpAttributes datagrams(QpState to, int port) {
    return switch (to) {
      case INIT -> QpAttributes.to(to).pkeyIndex(0).port(port).qkey(DatagramParameters.UDP_QKEY);
      case RTR -> QpAttributes.to(to);
      case RTS -> QpAttributes.to(to).sendPsn(0);
      default -> throw noAttributes(to);
    };
  }

  private static VerbsException noAttributes(QpState to) {
    return new VerbsException(Errno.EINVAL, "a connection does not bring a queue pair to " + to);
  }

  /** From INIT to RTS. */
  void bringUp(QpSetup setup) {
    queuePair.ifPresent(
        pair -> {
          setup.wrapMemory().ifPresent(pair::takeWrapMemory);
          pair.modify(setup.rtr());
          pair.modify(setup.rts());
        });
  }

  /**
   * To ERR, which flushes its requests; one for datagrams stays. A queue pair of a failed device
   * cannot, and has no requests any more: what ends the connection goes on. Nor has one that the
   * program has closed.
   */
  void toError() {
    if (space == PortSpace.TCP) {
      queuePair.ifPresent(IdQueuePair::toError);
    }
  }

  private static void toError(QueuePair pair) {
    if (pair.isClosed()) {
      return;
    }
    try {
      pair.modify(QpAttributes.to(QpState.ERR));
    } catch (VerbsException e) {
      if (!pair.isClosed()) { // it may be closed meanwhile
        LOG.warn(
            About.device(pair.protectionDomain().context().device().name()).qpn(pair.number()),
            "{} is not in ERR: {}",
            pair,
            e.getMessage());
      }
    }
  }

  /** Takes part in a multicast group. */
  void join(Gid group) {
    queuePair.ifPresent(pair -> pair.attachMulticast(group));
    groups.add(group);
  }

  /**
   * Takes no part in a multicast group any more.
   *
   * @throws VerbsException EADDRNOTAVAIL when it did not
   */
  void leave(InetAddress address) {
    Gid group = Gid.of(address);
    if (!groups.remove(group)) {
      throw new VerbsException(
          Errno.EADDRNOTAVAIL, "the identifier has not joined " + address.getHostAddress());
    }
    queuePair.ifPresent(pair -> pair.detachMulticast(group));
  }

  /** Adds what its end requires. */
  void release(Releases releases) {
    queuePair.ifPresent(
        pair -> {
          groups.forEach(group -> releases.add(() -> pair.detachMulticast(group)));
          releases.add(pair::close);
        });
    groups.clear();
  }
}

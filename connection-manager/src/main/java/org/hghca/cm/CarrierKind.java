package org.hghca.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Optional;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.SourceGid;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.VerbsException;

/** The protocols that set up connections. Both ends must use the same. */
public enum CarrierKind {
  /** The InfiniBand connection manager, on the queue pair of the general services. */
  IB,
  /** TCP between the hosts, for devices without that queue pair. */
  TCP;

  /** The flow label of Linux's connection manager is the source port * 31 + the other port. */
  private static final int PORT_FACTOR = 31;

  private static final int FLOW_LABEL = 0xf_ffff;

  /** That of {@code -Dhghca.cm.carrier}, if it is set. */
  static Optional<CarrierKind> configured() {
    return Optional.ofNullable(System.getProperty("hghca.cm.carrier")).map(CarrierKind::parse);
  }

  private static CarrierKind parse(String text) {
    for (CarrierKind kind : values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(text)) {
        return kind;
      }
    }
    throw new VerbsException(
        Errno.EINVAL,
        "--cm-carrier, in a program -Dhghca.cm.carrier, must be ib or tcp, not '%s'"
            .formatted(text));
  }

  /** What a device announces: the InfiniBand CM if it has the queue pair for it. */
  static CarrierKind announced(SharedDevice device) {
    return device.context().queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR) ? IB : TCP;
  }

  /**
   * The carrier of a device.
   *
   * @throws VerbsException EOPNOTSUPP when the device cannot have it; EBUSY when another program
   *     has its queue pair of the general services
   */
  Carrier of(SharedDevice device) {
    return switch (this) {
      case IB -> device.carriers().ib();
      case TCP -> device.carriers().tcp();
    };
  }

  /**
   * The local address from which to reach a remote one, or with the wildcard address, this host.
   */
  InetAddress source(Context context, InetAddress to) {
    return switch (this) {
      case IB ->
          to.isAnyLocalAddress() ? SourceGid.own(context, to) : SourceGid.nearest(context, to);
      case TCP -> CmDevices.kernelSource(to).orElseThrow(() -> noRoute(to));
    };
  }

  private static VerbsException noRoute(InetAddress to) {
    return new VerbsException(
        Errno.ENETUNREACH, "the kernel has no route to " + to.getHostAddress());
  }

  /** The line of the GID table from which a local address speaks. */
  private GidEntry entry(Context context, InetAddress local) {
    return switch (this) {
      case IB ->
          SourceGid.of(context, local)
              .orElseThrow(
                  () ->
                      new VerbsException(
                          Errno.EADDRNOTAVAIL,
                          "%s has no GID of %s"
                              .formatted(context.device().name(), local.getHostAddress())));
      case TCP -> SourceGid.any(context, local);
    };
  }

  /** What was tried, and the other thing that may be the matter. */
  String unreachable(String tried) {
    return "%s (both ends must use the same carrier, here %s)".formatted(tried, this);
  }

  int sourceIndex(Context context, InetAddress local) {
    return entry(context, local).index();
  }

  /** The path between two addresses; TCP learns the destination only from the answer. */
  Path path(
      Context context,
      InetSocketAddress local,
      InetSocketAddress remote,
      int trafficClass,
      int hopLimit,
      int packetLife) {
    GidEntry from = entry(context, local.getAddress());
    int ports = local.getPort() * PORT_FACTOR + remote.getPort();
    return new Path(
        from.gid(),
        from.index(),
        Gid.of(remote.getAddress()),
        this == IB ? ports & FLOW_LABEL : 0,
        trafficClass,
        hopLimit,
        0,
        from.port(),
        context.queryPort(from.port()).activeMtu(),
        packetLife);
  }
}

package org.hghca.programs.perf.medium;

import java.util.Comparator;
import java.util.OptionalInt;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.TimeScale;

/** The opened device of a side, and its port. */
public final class Device implements AutoCloseable {
  private final Context context;
  private final Parameters.Route route;
  private final PortAttributes port;
  private final GidEntry gid;

  private Device(Context context, Parameters.Route route, PortAttributes port) {
    this.context = context;
    this.route = route;
    this.port = port;
    gid = gid(context, route);
  }

  /**
   * Of an opened device, which is closed with this object.
   *
   * @throws PerfException when its port is not active, or has no such GID
   */
  public static Device of(Context context, Parameters.Route route) {
    return new Device(context, route, activePort(context, route.port()));
  }

  /** The same, whatever the state of its port: messages are known to come back. */
  public static Device inLoop(Context context, Parameters.Route route) {
    return new Device(context, route, context.queryPort(route.port()));
  }

  /**
   * Opens a device, and waits a little for its port: a network takes its time.
   *
   * @param name its name or locator
   * @throws VerbsException when it cannot be opened
   * @throws PerfException when its port is not active, or has no such GID
   */
  public static Device open(String name, Parameters.Route route) {
    Context context = ReadyDevice.open(name);
    try {
      return of(context, route);
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  private static PortAttributes activePort(Context context, int port) {
    PortAttributes attributes = context.queryPort(port);
    if (attributes.state() != PortState.ACTIVE) {
      throw new PerfException("Port number %d state is %s".formatted(port, attributes.state()));
    }
    return attributes;
  }

  /** The GID that was asked for; else, as perftest prefers, RoCE v2 and an IPv4 address. */
  private static GidEntry gid(Context context, Parameters.Route route) {
    OptionalInt index = route.gidIndex();
    return context.queryGidTable().stream()
        .filter(line -> line.port() == route.port())
        .filter(line -> index.isEmpty() || line.index() == index.getAsInt())
        .max(
            Comparator.comparing((GidEntry line) -> line.gid().ipv4().isPresent())
                .thenComparing(line -> line.type() == GidType.ROCE_V2)
                .thenComparing(GidEntry::index, Comparator.reverseOrder()))
        .orElseThrow(
            () ->
                new PerfException(
                    "port %d has no GID%s"
                        .formatted(
                            route.port(),
                            index.isEmpty() ? "" : " with index " + index.getAsInt())));
  }

  /** The opened device. */
  public Context context() {
    return context;
  }

  Parameters.Route route() {
    return route;
  }

  public String name() {
    return context.device().name();
  }

  public int lid() {
    return port.lid();
  }

  public Gid gid() {
    return gid.gid();
  }

  /** Tells another device of this process this one's Ethernet address, which may not resolve it. */
  public void addNeighbor(Device other) {
    other.context.addNeighbor(gid(), port.mac());
  }

  public int gidIndex() {
    return gid.index();
  }

  /**
   * The MTU that was asked for, or that of the port.
   *
   * @throws PerfException when the port has a smaller one
   */
  public Mtu mtu() {
    Mtu mtu = route.mtu().orElse(port.activeMtu());
    if (mtu.bytes() > port.activeMtu().bytes()) {
      throw new PerfException(
          "Requested mtu %d is higher than active mtu %d"
              .formatted(mtu.bytes(), port.activeMtu().bytes()));
    }
    return mtu;
  }

  /** The clock for waits for the device; devices of other providers are cards. */
  public TimeScale time() {
    return ReadyDevice.timeOf(context);
  }

  @Override
  public void close() {
    context.close();
  }
}

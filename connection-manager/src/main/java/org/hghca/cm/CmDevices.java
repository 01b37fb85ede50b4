package org.hghca.cm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.cm.carrier.SourceGid;
import org.hghca.cm.device.SharedDevice;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;

/**
 * Which device has which address. A device is found by a local address: it is given with the
 * address, or its GID table holds the address, or it is the only one. Ports are bound within one
 * such set of devices. Immutable but for its ports; thread-safe.
 */
public final class CmDevices {
  private static final ConditionLog LOG = ConditionLog.of(CmDevices.class);
  private static final String ADDRESSES = "hghca.cm.addresses";

  /** How to say which device has which address. */
  static final String REMEDY =
      "--cm-addresses=<address>=<name or locator>,... names them, in a program -D"
          + ADDRESSES
          + "=";

  /** A comma that ends an entry: an address and an equals sign follow it. */
  private static final String BETWEEN_ENTRIES = ",(?=[0-9a-fA-F.:]+=)";

  private static final CmDevices SYSTEM = new CmDevices(List.of(), true);

  /** A port of UDP that is only used to ask for a route; nothing is sent. */
  private static final int ANY_PORT = 9;

  /** A device; with the address that names it, or found by its GID table. */
  record Entry(String name, Optional<InetAddress> address, Supplier<SharedDevice> device) {}

  /** A device with the address on which to listen. */
  record Place(SharedDevice device, InetAddress address) {}

  private final List<Entry> given;
  private final boolean system;
  private final Ports ports = new Ports();

  private CmDevices(List<Entry> given, boolean system) {
    this.given = given;
    this.system = system;
  }

  /**
   * The devices of this machine: those of {@code -Dhghca.cm.addresses=<address>=<name or
   * locator>,...}, and those of {@link RdmaDevices#list}, which are opened when they are needed.
   */
  public static CmDevices system() {
    return SYSTEM;
  }

  /**
   * Devices that the program has open, and closes later than its identifiers. Contexts of one
   * device share its carriers, which use the context that came first.
   */
  public static CmDevices of(Context... contexts) {
    CmDevices devices = new CmDevices(List.of(), false);
    for (Context context : contexts) {
      devices = devices.with(entry(Optional.empty(), context));
    }
    return devices;
  }

  /** These devices, and one that has an address which its GID table does not hold. */
  public CmDevices with(InetAddress address, Context context) {
    return with(entry(Optional.of(address), context));
  }

  private static Entry entry(Optional<InetAddress> address, Context context) {
    Objects.requireNonNull(context);
    return new Entry(context.device().name(), address, () -> SharedDevice.of(context));
  }

  private CmDevices with(Entry entry) {
    List<Entry> more = new ArrayList<>(given);
    more.add(entry);
    return new CmDevices(List.copyOf(more), system);
  }

  Ports ports() {
    return ports;
  }

  List<Entry> entries() {
    if (!system) {
      return given;
    }
    List<Entry> all = new ArrayList<>(given);
    String configured = System.getProperty(ADDRESSES, "");
    if (!configured.isEmpty()) {
      for (String part : configured.split(BETWEEN_ENTRIES, -1)) {
        all.add(parse(part));
      }
    }
    List<String> named = all.stream().map(Entry::name).toList();
    for (RdmaDevice device : RdmaDevices.list()) {
      if (!named.contains(device.name())) {
        all.add(entry(device.name(), Optional.empty(), device));
      }
    }
    return all;
  }

  private static Entry parse(String part) {
    int equals = part.indexOf('=');
    try {
      if (equals > 0) {
        InetAddress address = InetAddress.ofLiteral(part.substring(0, equals));
        String name = part.substring(equals + 1);
        RdmaDevice device =
            RdmaDevices.list().stream()
                .filter(listed -> listed.name().equals(name) || listed.locator().equals(name))
                .findFirst()
                .orElse(new RdmaDevice(name, name, 0));
        return entry(device.name(), Optional.of(address), device);
      }
    } catch (IllegalArgumentException _) {
      // as for a missing address
    }
    throw new VerbsException(
        Errno.EINVAL,
        "-D%s must be <address>=<name or locator>,..., not '%s'".formatted(ADDRESSES, part));
  }

  private static Entry entry(String name, Optional<InetAddress> address, RdmaDevice device) {
    return new Entry(
        name,
        address,
        () -> SharedDevice.of(device.locator(), () -> RdmaDevices.open(device.locator())));
  }

  /**
   * The device of a local address; {@link SharedDevice#release} is due.
   *
   * @throws VerbsException ENODEV, naming the devices, when there is none or more than one
   */
  SharedDevice find(InetAddress local) {
    List<Entry> entries = entries();
    for (Entry entry : entries) {
      if (entry.address().equals(Optional.of(local))) {
        return entry.device().get();
      }
    }
    if (isOneDevice(entries)) {
      return entries.getFirst().device().get();
    }
    for (Entry entry : entries) {
      Optional<SharedDevice> found = having(entry, local);
      if (found.isPresent()) {
        return found.get();
      }
    }
    throw none(entries, "has the address " + local.getHostAddress());
  }

  private static boolean isOneDevice(List<Entry> entries) {
    return entries.stream().map(Entry::name).distinct().count() == 1;
  }

  private static Optional<SharedDevice> having(Entry entry, InetAddress local) {
    try {
      SharedDevice device = entry.device().get();
      if (SourceGid.of(device.context(), local).isPresent()) {
        return Optional.of(device);
      }
      device.release();
    } catch (VerbsException e) {
      LOG.debug(About.device(entry.name()), "not considered", e);
    }
    return Optional.empty();
  }

  static VerbsException none(List<Entry> entries, String what) {
    List<String> names =
        entries.stream()
            .map(
                entry ->
                    entry
                        .address()
                        .map(address -> address.getHostAddress() + "=" + entry.name())
                        .orElse(entry.name()))
            .toList();
    return new VerbsException(
        Errno.ENODEV,
        "no RDMA device %s; %s; %s"
            .formatted(
                what,
                names.isEmpty() ? "there are none" : "there are " + String.join(", ", names),
                REMEDY));
  }

  /**
   * The device to a remote address: the only one, or that of the address from which the kernel
   * would send; to the wildcard address, which is this host, that is the loopback address. {@link
   * SharedDevice#release} is due.
   */
  SharedDevice route(InetAddress remote) {
    List<Entry> entries = entries();
    if (isOneDevice(entries)) {
      return entries.getFirst().device().get();
    }
    return find(
        kernelSource(remote)
            .orElseThrow(() -> none(entries, "leads to " + remote.getHostAddress())));
  }

  /** The address from which the kernel would send; nothing is sent. */
  static Optional<InetAddress> kernelSource(InetAddress remote) {
    if (remote.isAnyLocalAddress()) {
      return Optional.of(
          InetAddress.ofLiteral(remote instanceof Inet4Address ? "127.0.0.1" : "::1"));
    }
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(remote, ANY_PORT));
      return Optional.of(socket.getLocalAddress());
    } catch (IOException | UncheckedIOException e) {
      LOG.debug(About.peer(remote), "the kernel has no route", e);
      return Optional.empty();
    }
  }
}

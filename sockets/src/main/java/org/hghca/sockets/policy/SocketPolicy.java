package org.hghca.sockets.policy;

import java.net.BindException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.hghca.sockets.stream.StreamDevice;
import org.hghca.sockets.stream.StreamOptions;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;

/**
 * Decides what goes over RDMA, and over which device. Devices are opened when an address first
 * needs them. Thread-safe.
 */
public final class SocketPolicy {
  /** Opens a device. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens a device.
     *
     * @param name a name, or a locator
     * @throws RuntimeException that says why it cannot be opened
     */
    StreamDevice open(String name);
  }

  /**
   * How a peer is reached.
   *
   * @param place the local end
   * @param remote the peer's address, as the device knows it
   */
  public record Route(Place place, InetAddress remote) {}

  private final SocketSettings settings;
  private final Opener opener;
  private final Map<String, StreamDevice> opened = new HashMap<>();

  /** All addresses of all devices once they are open; replaced, never changed. */
  private volatile List<Place> own = List.of();

  private volatile List<StreamDevice> devices = List.of();

  /** Some device has an address that the host has, too, as with {@code net=udp:}. */
  private volatile boolean hosts;

  private boolean closed;

  /** A policy that opens devices with the opener. */
  public SocketPolicy(SocketSettings settings, Opener opener) {
    this.settings = settings;
    this.opener = opener;
  }

  /** What was set. */
  public SocketSettings settings() {
    return settings;
  }

  /** With which options streams begin. */
  public StreamOptions options() {
    return settings.options();
  }

  /** The devices that are open. */
  public List<StreamDevice> devices() {
    return devices;
  }

  /**
   * The way to a peer: over RDMA when its address is in one of the networks.
   *
   * @return empty for the platform's way
   * @throws SocketException when no device can be opened, or none leads there
   */
  public Optional<Route> route(InetAddress remote) throws SocketException {
    if (remote.isAnyLocalAddress()) {
      return places(remote).stream().findFirst().map(place -> new Route(place, place.address()));
    }
    return inNetworks(remote) ? Optional.of(route(nearest(remote), remote)) : Optional.empty();
  }

  /** The way to a peer from a place that the program has chosen. */
  public Route route(Place from, InetAddress remote) throws SocketException {
    open();
    return new Route(from, isThisHost(remote) ? from.address() : remote);
  }

  /**
   * Where to bind a local address. The wildcard address is each device's first address in one of
   * the networks.
   *
   * @return none for the platform
   * @throws BindException when the address is in one of the networks and no device has it
   * @throws SocketException when no device can be opened
   */
  public List<Place> places(InetAddress local) throws SocketException {
    if (local.isAnyLocalAddress()) {
      return everywhere();
    }
    if (!inNetworks(local)) {
      return List.of();
    }
    open();
    Optional<Place> place = having(local);
    if (place.isEmpty() && isThisHost(local)) {
      place = Optional.of(first(local));
    }
    return List.of(
        place.orElseThrow(
            () ->
                new BindException(
                    "Cannot assign requested address: %s is in %s, and no device of %s has it"
                        .formatted(
                            local.getHostAddress(),
                            SocketSettings.NETWORKS,
                            SocketSettings.DEVICES))));
  }

  private List<Place> everywhere() throws SocketException {
    Map<StreamDevice, Place> places = new LinkedHashMap<>();
    for (Place place : open()) {
      if (inNetworks(place.address())) {
        places.putIfAbsent(place.device(), place);
      }
    }
    return List.copyOf(places.values());
  }

  private boolean inNetworks(InetAddress address) {
    for (Network network : settings.networks()) {
      if (network.contains(address)) {
        return true;
      }
    }
    return false;
  }

  private Optional<Place> having(InetAddress address) {
    return own.stream().filter(place -> place.address().equals(address)).findFirst();
  }

  /** The place whose address has most in common with the peer's. */
  private Place nearest(InetAddress remote) throws SocketException {
    List<Place> places = open();
    if (isThisHost(remote)) {
      return first(remote);
    }
    return having(remote)
        .or(
            () ->
                places.stream()
                    .filter(place -> Network.sameFamily(place.address(), remote))
                    .max(
                        Comparator.comparingInt(
                            place -> Network.commonBits(place.address(), remote))))
        .orElseThrow(() -> noAddress(remote));
  }

  /**
   * Whether an address of this host stands for the own device: where no device has one of those.
   */
  private boolean isThisHost(InetAddress address) throws SocketException {
    return address.isAnyLocalAddress() || !hosts && having(address).isEmpty() && isHosts(address);
  }

  private static boolean isHosts(InetAddress address) throws SocketException {
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
  }

  /** The first place, of the family of an address if there is one. */
  private Place first(InetAddress like) {
    return own.stream()
        .filter(place -> Network.sameFamily(place.address(), like))
        .findFirst()
        .orElse(own.getFirst());
  }

  private static SocketException noAddress(InetAddress remote) {
    return new SocketException(
        ("no device has an address of the family of %s: %s names a device with one, with ip=,"
                + " or %s leaves the network out")
            .formatted(remote.getHostAddress(), SocketSettings.DEVICES, SocketSettings.NETWORKS));
  }

  private List<Place> open() throws SocketException {
    List<Place> known = own;
    return known.isEmpty() ? openAll() : known;
  }

  private synchronized List<Place> openAll() throws SocketException {
    if (closed) {
      throw new SocketException("the devices are closed: the JVM ends");
    }
    if (own.isEmpty()) {
      List<StreamDevice> all = new ArrayList<>();
      List<Place> places = new ArrayList<>();
      for (String name : names()) {
        StreamDevice device = open(name);
        all.add(device);
        places.addAll(places(name, device));
      }
      checkAddresses(places);
      boolean some = false;
      for (Place place : places) {
        some |= isHosts(place.address());
      }
      hosts = some;
      devices = List.copyOf(all);
      own = List.copyOf(places);
    }
    return own;
  }

  private List<String> names() {
    return settings.devices().isEmpty()
        ? RdmaDevices.list().stream().map(RdmaDevice::locator).toList()
        : settings.devices();
  }

  private static List<Place> places(String name, StreamDevice device) throws SocketException {
    List<Place> places =
        device.addresses().stream().map(address -> new Place(device, address)).toList();
    if (places.isEmpty()) {
      throw new SocketException(
          "-D%s: %s has no IP address: give it ip=".formatted(SocketSettings.DEVICES, name));
    }
    return places;
  }

  private StreamDevice open(String name) throws SocketException {
    try {
      return opened.computeIfAbsent(name, opener::open);
    } catch (RuntimeException e) {
      throw new SocketException(
          "-D%s: %s cannot be opened: %s".formatted(SocketSettings.DEVICES, name, e.getMessage()),
          e);
    }
  }

  private static void checkAddresses(List<Place> places) throws SocketException {
    if (places.isEmpty()) {
      throw new SocketException(
          "there is no RDMA device: JDK_JAVA_OPTIONS=-D%s=<locator> names one"
              .formatted(SocketSettings.DEVICES));
    }
    Set<InetAddress> seen = new HashSet<>();
    for (Place place : places) {
      if (!seen.add(place.address())) {
        throw new SocketException(
            "-D%s: two devices have the address %s; give one another ip="
                .formatted(SocketSettings.DEVICES, place.address().getHostAddress()));
      }
    }
  }

  /** Closes the devices, with all of their streams. Idempotent; nothing is opened afterwards. */
  public synchronized void close() {
    closed = true;
    own = List.of();
    opened.values().forEach(StreamDevice::close);
    opened.clear();
    devices = List.of();
  }
}

package org.hghca.cm;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.Route;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.Releases;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;

/**
 * The addresses of an identifier and what they lead to: its port, its device, its carrier, its
 * path. Guarded by the monitor of the {@link Lifecycle}.
 */
final class Addressing {
  private static final int HOP_LIMIT = 64;

  private final Lifecycle life;
  private final CmDevices devices;
  private final PortSpace space;
  private final Consumer<SharedDevice> inUse;
  private final CmOptions options = new CmOptions();
  private InetSocketAddress local = new InetSocketAddress(0);
  private InetSocketAddress remote = new InetSocketAddress(0);
  private Optional<Ports.Binding> binding = Optional.empty();
  private Optional<CmDevices.Place> place = Optional.empty();
  private Optional<Path> path = Optional.empty();

  /**
   * Addresses that are not known.
   *
   * @param inUse takes each device that the identifier uses; may throw VerbsException
   */
  Addressing(Lifecycle life, CmDevices devices, PortSpace space, Consumer<SharedDevice> inUse) {
    this.life = life;
    this.devices = devices;
    this.space = space;
    this.inUse = inUse;
  }

  CmOptions options() {
    return options;
  }

  InetSocketAddress local() {
    return local;
  }

  InetSocketAddress remote() {
    return remote;
  }

  Optional<Path> path() {
    return path;
  }

  /** The device's port, from 1. */
  int port() {
    return path.isPresent() ? path.get().port() : 1;
  }

  /**
   * The way to the peer, once it is resolved.
   *
   * @throws java.util.NoSuchElementException before
   */
  Route route() {
    return new Route(space.serviceId(remote.getPort()), local, remote, path.orElseThrow());
  }

  /** {@link CmId#bind}. */
  void bind(InetSocketAddress address) {
    requireKnown(address);
    synchronized (life) {
      life.require("bind", CmState.IDLE);
      Ports.Binding bound = devices.ports().bind(space, address, options.reuseAddress());
      try {
        if (!address.getAddress().isAnyLocalAddress()) {
          take(new CmDevices.Place(devices.find(address.getAddress()), address.getAddress()));
        }
      } catch (VerbsException e) {
        bound.close();
        throw e;
      }
      binding = Optional.of(bound);
      local = new InetSocketAddress(address.getAddress(), bound.port());
      life.to(CmState.BOUND);
    }
  }

  /** Takes over the release of a place's device; releases it where that fails. */
  private void take(CmDevices.Place found) {
    try {
      inUse.accept(found.device());
    } catch (VerbsException e) {
      found.device().release();
      throw e;
    }
    place = Optional.of(found);
  }

  /** Both ends of a request, which came over a device. */
  void bind(
      SharedDevice device,
      CarrierKind kind,
      InetSocketAddress to,
      InetSocketAddress from,
      Path back) {
    synchronized (life) {
      local = to;
      remote = from;
      path = Optional.of(back);
      options.carrier(kind);
      take(new CmDevices.Place(device.retained(), to.getAddress()));
    }
  }

  private static void requireKnown(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new VerbsException(
          Errno.EHOSTUNREACH, "the host %s is not known".formatted(address.getHostString()));
    }
  }

  /** {@link CmId#resolveAddress}. */
  void resolve(InetSocketAddress to, Duration limit) {
    requireKnown(to);
    NoPeer.refuse(to.getAddress(), space);
    synchronized (life) {
      life.require("resolve an address", CmState.IDLE, CmState.BOUND);
      if (life.state() == CmState.IDLE) {
        bind(new InetSocketAddress(anyLike(to.getAddress()), 0));
      }
      remote = to;
      if (place.isPresent()) { // by the local address
        remote = reached(place.get());
        life.to(CmState.ADDRESS_RESOLVED);
        life.post(Report.of(CmEventType.ADDR_RESOLVED));
        return;
      }
      life.to(CmState.RESOLVING_ADDRESS);
    }
    search(to.getAddress(), limit);
  }

  /** Finds the device on another thread, as opening one may take seconds. */
  private void search(InetAddress to, Duration limit) {
    CompletableFuture<CmDevices.Place> search = new CompletableFuture<>();
    Executor threads = task -> Thread.ofVirtual().name("hghca-cm-resolve").start(task);
    threads.execute(() -> find(to, search));
    var _ =
        search
            .orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS)
            .whenCompleteAsync(
                (found, failure) -> {
                  if (failure == null) {
                    resolved(found);
                  } else {
                    unresolved(cause(failure, to, limit));
                  }
                },
                threads);
  }

  private void find(InetAddress to, CompletableFuture<CmDevices.Place> search) {
    try {
      CmDevices.Place found = placeTo(to);
      if (!search.complete(found)) {
        found.device().release(); // the time limit is over
      }
    } catch (RuntimeException e) {
      search.completeExceptionally(e);
    }
  }

  private static VerbsException cause(Throwable failure, InetAddress to, Duration limit) {
    return switch (failure) {
      case VerbsException refused -> refused;
      case TimeoutException _ ->
          new VerbsException(
              Errno.ETIMEDOUT,
              "no device that leads to %s was open within %d ms"
                  .formatted(to.getHostAddress(), limit.toMillis()));
      default -> new VerbsException(Errno.EIO, "finding a device failed: " + failure, failure);
    };
  }

  private void resolved(CmDevices.Place found) {
    synchronized (life) {
      if (life.state() == CmState.RESOLVING_ADDRESS) {
        try {
          take(found);
        } catch (VerbsException e) {
          unresolved(e);
          return;
        }
        local = new InetSocketAddress(found.address(), local.getPort());
        remote = reached(found);
        life.to(CmState.ADDRESS_RESOLVED);
        life.post(Report.of(CmEventType.ADDR_RESOLVED));
        return;
      }
    }
    found.device().release(); // closed meanwhile
  }

  /** The remote address: for the wildcard address, which is this host, the local one. */
  private InetSocketAddress reached(CmDevices.Place from) {
    return remote.getAddress().isAnyLocalAddress()
        ? new InetSocketAddress(from.address(), remote.getPort())
        : remote;
  }

  private void unresolved(VerbsException cause) {
    synchronized (life) {
      if (life.moves(CmState.RESOLVING_ADDRESS, CmState.BOUND)) {
        life.post(Report.failure(CmEventType.ADDR_ERROR, cause));
      }
    }
  }

  private static InetAddress anyLike(InetAddress address) {
    return InetAddress.ofLiteral(address instanceof Inet4Address ? "0.0.0.0" : "::");
  }

  /** The device and the local address from which to reach a remote one; its release is due. */
  private CmDevices.Place placeTo(InetAddress to) {
    SharedDevice device = devices.route(to);
    try {
      return new CmDevices.Place(device, kind(device).source(device.context(), to));
    } catch (VerbsException e) {
      device.release();
      throw e;
    }
  }

  /** {@link CmId#resolveRoute}. */
  void resolveRoute(Duration limit) {
    if (limit.isZero() || limit.isNegative()) {
      throw new VerbsException(Errno.EINVAL, "the time limit must be above zero");
    }
    synchronized (life) {
      life.require("resolve a route", CmState.ADDRESS_RESOLVED);
      try {
        path =
            Optional.of(
                kind(device())
                    .path(
                        device().context(),
                        local,
                        remote,
                        options.typeOfService(),
                        HOP_LIMIT,
                        options.packetLife()));
        life.to(CmState.ROUTE_RESOLVED);
        life.post(Report.of(CmEventType.ROUTE_RESOLVED));
      } catch (VerbsException e) {
        life.post(Report.failure(CmEventType.ROUTE_ERROR, e));
      }
    }
  }

  /**
   * Where datagrams to a group go.
   *
   * @throws VerbsException EINVAL in port space TCP, and for the address of no group
   */
  DatagramParameters to(Gid group) {
    if (space != PortSpace.UDP || !group.isMulticast()) {
      throw new VerbsException(
          Errno.EINVAL, "port space UDP and the address of a group are needed");
    }
    int index = kind(device()).sourceIndex(device().context(), local.getAddress());
    return new DatagramParameters(
        new AddressVector(group, index, 0, HOP_LIMIT, options.typeOfService(), 0, port()),
        QueuePair.MULTICAST_NUMBER,
        DatagramParameters.UDP_QKEY);
  }

  /** Listens at a place. */
  Registration listen(CmDevices.Place where, Listener listener) {
    return carrier(where.device())
        .listen(
            space.serviceId(local.getPort()),
            new InetSocketAddress(where.address(), local.getPort()),
            listener);
  }

  /**
   * The device.
   *
   * @throws VerbsException EINVAL before an address is bound or resolved
   */
  SharedDevice device() {
    if (place.isEmpty()) {
      throw new VerbsException(
          Errno.EINVAL, "the identifier has no device before an address is resolved");
    }
    return place.get().device();
  }

  /** The carrier's kind: the one that is set, or that of the device. */
  CarrierKind kind(SharedDevice device) {
    synchronized (life) {
      return options.carrier(device);
    }
  }

  Carrier carrier(SharedDevice device) {
    return kind(device).of(device);
  }

  /** Whether the local address is of a device. */
  boolean uses(DeviceCarriers device) {
    return place.isPresent() && place.get().device().carriers().equals(device);
  }

  /** The device with its address, once they are known. */
  Optional<CmDevices.Place> place() {
    return place;
  }

  /** Adds what its end requires. */
  void release(Releases releases) {
    binding.ifPresent(bound -> releases.add(bound::close));
    place.ifPresent(where -> releases.add(where.device()::release));
    place = Optional.empty();
  }
}

package org.hghca.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.Releases;
import org.hghca.cm.device.SharedDevice;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The requests that a listening identifier takes, of which it lets a number wait. A long backlog
 * has some places that no address takes alone, so that one which fills it does not keep out others.
 */
final class Listening implements End {
  private static final ConditionLog LOG = ConditionLog.of(Listening.class);

  /** One in so many places is left to other addresses than one that has all the rest. */
  private static final int SHARED_PLACES = 64;

  private final CmId id;
  private final int backlog;
  private final List<Registration> registrations = new ArrayList<>();
  private final List<CmDevices.Place> owned = new ArrayList<>();
  private final Map<InetAddress, Integer> waitingOf = new HashMap<>();
  private int waiting;
  private boolean closed;

  Listening(CmId id, int backlog) {
    this.id = id;
    this.backlog = backlog;
  }

  /**
   * Listens at the place that the local address names, or for all addresses.
   *
   * @return the devices on which it listens
   */
  List<SharedDevice> listen(CmDevices devices, Addressing addressing) {
    if (addressing.place().isPresent()) {
      CmDevices.Place place = addressing.place().get();
      listen(addressing, place);
      return List.of(place.device());
    }
    return Everywhere.listen(
        devices,
        addressing,
        place -> {
          owned.add(place);
          listen(addressing, place);
        });
  }

  private void listen(Addressing addressing, CmDevices.Place place) {
    add(place.device(), listener -> addressing.listen(place, listener));
  }

  /** Whether it listens on a device because of the wildcard address. */
  boolean uses(DeviceCarriers device) {
    return owned.stream().anyMatch(where -> where.device().carriers().equals(device));
  }

  /** Listens at one place more. */
  void add(SharedDevice device, Function<Listener, Registration> listen) {
    registrations.add(listen.apply(new At(device)));
  }

  /** Takes a place of the backlog, unless it is full. */
  private synchronized boolean enter(InetAddress peer) {
    int itsOwn = waitingOf.getOrDefault(peer, 0);
    if (closed || waiting >= backlog || itsOwn >= backlog - backlog / SHARED_PLACES) {
      return false;
    }
    waitingOf.put(peer, itsOwn + 1);
    waiting++;
    return true;
  }

  /** A request of a peer was accepted or refused, or has ended. */
  private synchronized void leave(InetAddress peer) {
    waitingOf.computeIfPresent(peer, (_, count) -> count == 1 ? null : count - 1);
    waiting--;
  }

  @Override
  public void accept(Context context, ConnectionParameters parameters) {
    throw noPeer();
  }

  @Override
  public void reject(PrivateData data) {
    throw noPeer();
  }

  private static VerbsException noPeer() {
    return new VerbsException(Errno.EINVAL, "a listener has no peer to answer");
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    Releases releases = new Releases();
    registrations.forEach(registration -> releases.add(registration::close));
    owned.forEach(where -> releases.add(where.device()::release));
    releases.run();
  }

  /** Takes the requests to one device. */
  private final class At implements Listener {
    private final SharedDevice device;

    private At(SharedDevice device) {
      this.device = device;
    }

    @Override
    public Optional<HandshakeEvents> requested(Handshake handshake, ConnectRequest request) {
      return take(
          request.remote(),
          child -> {
            ConnectionEnd end = child.becomePassive(device, id.kind(device), handshake, request);
            return id.present(child, end.peerParameters()) ? Optional.of(end) : Optional.empty();
          });
    }

    @Override
    public boolean requested(ServiceHandshake handshake, ServiceRequest request) {
      ConnectionParameters parameters =
          ConnectionParameters.DEFAULT.withPrivateData(request.privateData());
      return take(
              request.remote(),
              child -> {
                child.becomeService(device, id.kind(device), handshake, request);
                return id.present(child, parameters) ? Optional.of(child) : Optional.empty();
              })
          .isPresent();
    }

    /** Makes an identifier for a request, unless the backlog is full. */
    private <T> Optional<T> take(InetSocketAddress remote, Function<CmId, Optional<T>> present) {
      InetAddress peer = remote.getAddress();
      if (!enter(peer)) {
        LOG.debug(
            About.peer(remote),
            "{}: for this peer the backlog of {} requests is full",
            id,
            backlog);
        return Optional.empty();
      }
      BacklogPlace place = BacklogPlace.of(() -> leave(peer));
      Optional<CmId> child = Optional.empty();
      try {
        child = Optional.of(id.child(place));
        Optional<T> presented = present.apply(child.get());
        if (presented.isEmpty()) {
          child.get().close();
        }
        return presented;
      } catch (RuntimeException e) {
        child.ifPresentOrElse(CmId::close, () -> leave(peer));
        throw e;
      }
    }

    @Override
    public void failed(VerbsException cause) {
      id.failed(device.carriers(), cause);
    }
  }
}

package org.hghca.cm.ib;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.hghca.cm.ib.IbHandshake.State;
import org.hghca.verbs.Gid;

/** The connections of a device by what peers name them with. Used under the agent's lock. */
final class Handshakes {

  /** Maximum number of connections that are ending; for one more, the oldest is removed. */
  static final int ENDING = 16_384;

  private static final Set<State> HALF = EnumSet.of(State.REQ_RCVD, State.REP_SENT);

  private final Map<Integer, IbHandshake> byLocalId = new HashMap<>();
  private final Map<RemoteEnd, IbHandshake> byRemoteRequest = new HashMap<>();
  private final Map<RemoteEnd, IbHandshake> byRemoteQp = new HashMap<>();
  private final LinkedHashSet<IbHandshake> ending = new LinkedHashSet<>();
  private final RandomGenerator random;

  /** Requests of peers without a confirmation. */
  private final HalfOpen halfOpen = new HalfOpen();

  Handshakes(RandomGenerator random) {
    this.random = random;
  }

  /** A communication ID that no connection has; random, since a peer may remember old ones. */
  int newId() {
    int id;
    do {
      id = random.nextInt();
    } while (id == 0 || byLocalId.containsKey(id));
    return id;
  }

  void add(IbHandshake handshake) {
    byLocalId.put(handshake.localId, handshake);
    handshake.remoteRequest().ifPresent(request -> byRemoteRequest.put(request, handshake));
    handshake.remoteQp().ifPresent(qp -> hasQp(handshake, qp));
    if (HALF.contains(handshake.state())) {
      halfOpen.add(handshake.peer());
    }
  }

  void hasQp(IbHandshake handshake, RemoteEnd qp) {
    byRemoteQp.put(qp, handshake);
  }

  void hasNoQp(IbHandshake handshake) {
    handshake.remoteQp().ifPresent(qp -> byRemoteQp.remove(qp, handshake));
  }

  void changes(IbHandshake handshake, State from, State to) {
    boolean was = HALF.contains(from);
    boolean is = HALF.contains(to);
    if (was == is || !handshake.equals(byLocalId.get(handshake.localId))) {
      return;
    }
    if (is) {
      halfOpen.add(handshake.peer());
    } else {
      halfOpen.remove(handshake.peer());
    }
  }

  /** Adds a connection that only messages and timers end. */
  void addEnding(IbHandshake handshake) {
    ending.add(handshake);
    if (ending.size() > ENDING) {
      ending.getFirst().exitTimeWait();
    }
  }

  void remove(IbHandshake handshake) {
    byLocalId.remove(handshake.localId, handshake);
    handshake.remoteRequest().ifPresent(request -> byRemoteRequest.remove(request, handshake));
    hasNoQp(handshake);
    ending.remove(handshake);
  }

  Optional<IbHandshake> withId(int localId) {
    return Optional.ofNullable(byLocalId.get(localId));
  }

  Optional<IbHandshake> withRequest(RemoteEnd request) {
    return Optional.ofNullable(byRemoteRequest.get(request));
  }

  Optional<IbHandshake> withQp(RemoteEnd qp) {
    return Optional.ofNullable(byRemoteQp.get(qp));
  }

  /** Whether a request of a peer is one too many. */
  boolean isFullFor(Gid peer) {
    return halfOpen.isFullFor(peer);
  }

  List<IbHandshake> all() {
    return new ArrayList<>(byLocalId.values());
  }

  /** Entries of all tables. */
  int size() {
    return byLocalId.size()
        + byRemoteRequest.size()
        + byRemoteQp.size()
        + ending.size()
        + halfOpen.size();
  }
}

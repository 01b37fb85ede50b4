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
import org.hghca.cm.ib.Connection.State;
import org.hghca.verbs.Gid;

/** The connections of a device by what peers name them with. Used under the engine's lock. */
final class Connections {

  /** Maximum number of connections that are ending; for one more, the oldest is removed. */
  static final int ENDING = 16_384;

  private static final Set<State> HALF = EnumSet.of(State.REQ_RCVD, State.REP_SENT);

  private final Map<Integer, Connection> byLocalId = new HashMap<>();
  private final Map<RemoteEnd, Connection> byRemoteRequest = new HashMap<>();
  private final Map<RemoteEnd, Connection> byRemoteQp = new HashMap<>();
  private final LinkedHashSet<Connection> ending = new LinkedHashSet<>();
  private final RandomGenerator random;

  /** Requests of peers without a confirmation. */
  private final HalfOpen halfOpen = new HalfOpen();

  Connections(RandomGenerator random) {
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

  void add(Connection connection) {
    byLocalId.put(connection.localId, connection);
    connection.remoteRequest().ifPresent(request -> byRemoteRequest.put(request, connection));
    connection.remoteQp().ifPresent(qp -> hasQp(connection, qp));
    if (HALF.contains(connection.state())) {
      halfOpen.add(connection.peer());
    }
  }

  void hasQp(Connection connection, RemoteEnd qp) {
    byRemoteQp.put(qp, connection);
  }

  void hasNoQp(Connection connection) {
    connection.remoteQp().ifPresent(qp -> byRemoteQp.remove(qp, connection));
  }

  void changes(Connection connection, State from, State to) {
    boolean was = HALF.contains(from);
    boolean is = HALF.contains(to);
    if (was == is || !connection.equals(byLocalId.get(connection.localId))) {
      return;
    }
    if (is) {
      halfOpen.add(connection.peer());
    } else {
      halfOpen.remove(connection.peer());
    }
  }

  /** Adds a connection that only messages and timers end. */
  void addEnding(Connection connection) {
    ending.add(connection);
    if (ending.size() > ENDING) {
      ending.getFirst().exitTimeWait();
    }
  }

  void remove(Connection connection) {
    byLocalId.remove(connection.localId, connection);
    connection.remoteRequest().ifPresent(request -> byRemoteRequest.remove(request, connection));
    hasNoQp(connection);
    ending.remove(connection);
  }

  Optional<Connection> withId(int localId) {
    return Optional.ofNullable(byLocalId.get(localId));
  }

  Optional<Connection> withRequest(RemoteEnd request) {
    return Optional.ofNullable(byRemoteRequest.get(request));
  }

  Optional<Connection> withQp(RemoteEnd qp) {
    return Optional.ofNullable(byRemoteQp.get(qp));
  }

  /** Whether a request of a peer is one too many. */
  boolean isFullFor(Gid peer) {
    return halfOpen.isFullFor(peer);
  }

  List<Connection> all() {
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

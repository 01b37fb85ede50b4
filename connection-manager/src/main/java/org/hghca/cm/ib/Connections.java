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

/** The connections of a device by what peers name them with. Used under the engine's lock. */
final class Connections {

  /** Maximum number of requests of peers without a confirmation; further ones are dropped. */
  static final int HALF_OPEN = 4096;

  /** Maximum number of connections that are ending; for one more, the oldest is removed. */
  static final int ENDING = 16_384;

  private static final Set<State> HALF = EnumSet.of(State.REQ_RCVD, State.REP_SENT);

  private final Map<Integer, Connection> byLocalId = new HashMap<>();
  private final Map<RemoteEnd, Connection> byRemoteRequest = new HashMap<>();
  private final Map<RemoteEnd, Connection> byRemoteQp = new HashMap<>();
  private final LinkedHashSet<Connection> ending = new LinkedHashSet<>();
  private final RandomGenerator random;
  private int halfOpen;

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
      halfOpen++;
    }
  }

  void hasQp(Connection connection, RemoteEnd qp) {
    byRemoteQp.put(qp, connection);
  }

  void hasNoQp(Connection connection) {
    connection.remoteQp().ifPresent(qp -> byRemoteQp.remove(qp, connection));
  }

  void changes(Connection connection, State from, State to) {
    if (connection.equals(byLocalId.get(connection.localId))) {
      halfOpen += (HALF.contains(to) ? 1 : 0) - (HALF.contains(from) ? 1 : 0);
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

  boolean isFull() {
    return halfOpen >= HALF_OPEN;
  }

  List<Connection> all() {
    return new ArrayList<>(byLocalId.values());
  }

  /** Entries of all tables. */
  int size() {
    return byLocalId.size() + byRemoteRequest.size() + byRemoteQp.size() + ending.size() + halfOpen;
  }
}

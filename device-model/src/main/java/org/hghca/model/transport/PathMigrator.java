package org.hghca.model.transport;

import org.hghca.wire.Packet;

/**
 * Automatic path migration of connections: decides by its addresses and its bit MigReq whether a
 * packet is taken, and moves connections to their alternate paths.
 */
final class PathMigrator {
  private final EventSink events;

  PathMigrator(EventSink events) {
    this.events = events;
  }

  /** Whether a packet comes on a path of the connection, which may be the alternate one. */
  boolean takes(Endpoint endpoint, ConnectionContext qp, Packet packet) {
    if (qp.migration == Migration.MIGRATED) {
      return qp.path.isBack(packet);
    }
    boolean peerMigrates = packet.migrated && qp.migration == Migration.ARMED;
    if (peerMigrates && qp.alternatePath.isBack(packet)) {
      migrate(qp);
      return true;
    }
    if (qp.path.isBack(packet)) {
      if (!packet.migrated && qp.migration == Migration.REARM) {
        qp.migration = Migration.ARMED;
        qp.setChanged(true);
      }
      return true;
    }
    if (peerMigrates && !endpoint.migrationRefused) {
      endpoint.migrationRefused = true;
      events.raise(QueuePairEvent.MIGRATION_FAILED, endpoint.qpn);
    }
    return false;
  }

  /** Has an armed connection go on by its alternate path; returns whether it was armed. */
  boolean migrateArmed(ConnectionContext qp) {
    boolean armed = qp.migration == Migration.ARMED;
    if (armed) {
      migrate(qp);
    }
    return armed;
  }

  private void migrate(ConnectionContext qp) {
    qp.path.become(qp.alternatePath);
    qp.destinationMac = qp.alternateMac;
    qp.ackTimeout = qp.alternateAckTimeout;
    qp.migration = Migration.MIGRATED;
    qp.migrated = true;
    qp.setChanged(true);
    events.raise(QueuePairEvent.PATH_MIGRATED, qp.qpn);
  }
}

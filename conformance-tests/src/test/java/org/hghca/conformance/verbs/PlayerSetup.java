package org.hghca.conformance.verbs;

import java.util.Set;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;

/** The configuration of {@link Players}. */
final class PlayerSetup {
  private final QpType type;
  private int messageSize = 1024;
  private int depth = 100;
  private int sges = 1;
  private int queuePairs = 1;
  private boolean events;
  private boolean shared;
  private Set<AccessFlag> access =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
  private ConnectionOptions connection = ConnectionOptions.DEFAULT;

  PlayerSetup(QpType type) {
    this.type = type;
  }

  QpType type() {
    return type;
  }

  PlayerSetup messageSize(int value) {
    messageSize = value;
    return this;
  }

  int messageSize() {
    return messageSize;
  }

  /** Depth of both queues of each queue pair, and of a shared receive queue. */
  PlayerSetup depth(int value) {
    depth = value;
    return this;
  }

  int depth() {
    return depth;
  }

  PlayerSetup sges(int value) {
    sges = value;
    return this;
  }

  PlayerSetup queuePairs(int value) {
    queuePairs = value;
    return this;
  }

  int queuePairs() {
    return queuePairs;
  }

  /** Waits for completions on a channel. */
  PlayerSetup events() {
    events = true;
    return this;
  }

  boolean hasEvents() {
    return events;
  }

  /** Posts receives to a shared receive queue. */
  PlayerSetup shared() {
    shared = true;
    return this;
  }

  boolean isShared() {
    return shared;
  }

  /** Access that peers have to the memory, and through the queue pairs. */
  PlayerSetup access(AccessFlag... value) {
    return memoryAccess(value).queuePairAccess(value);
  }

  PlayerSetup memoryAccess(AccessFlag... value) {
    access = Set.of(value);
    return this;
  }

  Set<AccessFlag> memoryAccess() {
    return access;
  }

  PlayerSetup queuePairAccess(AccessFlag... value) {
    connection = connection.withAccess(value);
    return this;
  }

  ConnectionOptions connection() {
    return connection;
  }

  QueuePairConfig apply(QueuePairConfig config) {
    return config.sendDepth(depth).receiveDepth(depth).maxSendSge(sges).maxReceiveSge(sges);
  }

  /** Creates the players on the devices under test. */
  Players open() {
    return on(Fabric.open());
  }

  /** Creates the players on a fabric, which they own. */
  Players on(Fabric fabric) {
    return new Players(fabric, this);
  }
}

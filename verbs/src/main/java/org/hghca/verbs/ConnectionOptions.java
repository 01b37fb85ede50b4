package org.hghca.verbs;

import java.util.Set;

/**
 * How {@link QueuePair#connect} connects.
 *
 * @param port the local port, from 1
 * @param gidIndex which of the port's GIDs to use
 * @param pathMtu payload bytes in a packet
 * @param access what the peer may do through the queue pair
 * @param readAtomic READs and atomics outstanding at a time, each way
 * @param minRnrTimer code, 0 to 31, of the wait when no receive is posted
 * @param timeout wait for an acknowledgement, 4.096 us * 2^n; 0 waits for ever
 * @param retryCount retries after a time-out, 0 to 7
 * @param rnrRetry retries when the peer has no receive posted, 0 to 6; 7 is for ever
 */
public record ConnectionOptions(
    int port,
    int gidIndex,
    Mtu pathMtu,
    Set<AccessFlag> access,
    int readAtomic,
    int minRnrTimer,
    int timeout,
    int retryCount,
    int rnrRetry) {

  public ConnectionOptions {
    access = Set.copyOf(access);
  }

  /**
   * Port 1, GID 0, MTU 1024, remote reads and writes, and the times and counts of the ping-pongs.
   */
  public static final ConnectionOptions DEFAULT =
      new ConnectionOptions(
          1,
          0,
          Mtu.MTU_1024,
          Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ),
          1,
          12,
          14,
          7,
          7);

  public ConnectionOptions withPathMtu(Mtu mtu) {
    return new ConnectionOptions(
        port, gidIndex, mtu, access, readAtomic, minRnrTimer, timeout, retryCount, rnrRetry);
  }

  public ConnectionOptions withGidIndex(int index) {
    return new ConnectionOptions(
        port, index, pathMtu, access, readAtomic, minRnrTimer, timeout, retryCount, rnrRetry);
  }

  /** What the peer may do through the queue pair; atomics are not among the {@link #DEFAULT}s. */
  public ConnectionOptions withAccess(AccessFlag... flags) {
    return new ConnectionOptions(
        port,
        gidIndex,
        pathMtu,
        AccessFlag.setOf(flags),
        readAtomic,
        minRnrTimer,
        timeout,
        retryCount,
        rnrRetry);
  }

  public ConnectionOptions withReadAtomic(int count) {
    return new ConnectionOptions(
        port, gidIndex, pathMtu, access, count, minRnrTimer, timeout, retryCount, rnrRetry);
  }

  /** Attributes that take a fresh queue pair to INIT. */
  public QpAttributes toInit(QpType type) {
    QpAttributes attributes = QpAttributes.to(QpState.INIT).pkeyIndex(0).port(port);
    return type == QpType.UD ? attributes.qkey(0x11111111) : attributes.access(access);
  }

  /** Attributes that take it on to RTR. */
  public QpAttributes toRtr(QpType type, QpEndpoint peer) {
    QpAttributes attributes = QpAttributes.to(QpState.RTR);
    if (type == QpType.UD) {
      return attributes;
    }
    attributes
        .addressVector(AddressVector.to(peer.gid(), gidIndex, port))
        .pathMtu(pathMtu)
        .destinationQpn(peer.qpNumber())
        .receivePsn(peer.psn());
    return type == QpType.UC
        ? attributes
        : attributes.maxDestinationReadAtomic(readAtomic).minRnrTimer(minRnrTimer);
  }

  /** Attributes that take it on to RTS. */
  public QpAttributes toRts(QpType type, int psn) {
    QpAttributes attributes = QpAttributes.to(QpState.RTS).sendPsn(psn);
    return type != QpType.RC
        ? attributes
        : attributes
            .timeout(timeout)
            .retryCount(retryCount)
            .rnrRetry(rnrRetry)
            .maxReadAtomic(readAtomic);
  }
}

package org.hghca.verbs;

import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Options of {@link QueuePair#connect}. Immutable: each {@code with} returns a changed copy, and
 * throws {@link VerbsException} EINVAL for a value out of its range.
 */
public final class ConnectionOptions {
  /**
   * Port 1, GID 0, MTU 1024, remote reads and writes, and the times and counts of the ping-pongs.
   */
  public static final ConnectionOptions DEFAULT = new ConnectionOptions(new Values());

  private final Values values;

  private ConnectionOptions(Values values) {
    this.values = values;
  }

  /** The values of the options; modified only before the object is published. */
  private static final class Values implements Cloneable {
    private int port = 1;
    private int gidIndex;
    private Mtu pathMtu = Mtu.MTU_1024;
    private Set<AccessFlag> access =
        Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    private int readAtomic = 1;
    private int minRnrTimer = 12;
    private int timeout = 14;
    private int retryCount = 7;
    private int rnrRetry = 7;
    private int flowLabel;
    private int hopLimit = AddressVector.DEFAULT_HOP_LIMIT;
    private int trafficClass;
    private int serviceLevel;

    Values copy() {
      try {
        return (Values) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private ConnectionOptions with(Consumer<Values> change) {
    Values changed = values.copy();
    change.accept(changed);
    return new ConnectionOptions(changed);
  }

  /** The local port, from 1. */
  public ConnectionOptions withPort(int port) {
    return with(changed -> changed.port = FieldRange.check("port", port, 8));
  }

  /** Which of the port's GIDs to use. */
  public ConnectionOptions withGidIndex(int index) {
    return with(changed -> changed.gidIndex = FieldRange.check("GID index", index, 8));
  }

  /** Payload bytes in a packet. */
  public ConnectionOptions withPathMtu(Mtu mtu) {
    return with(changed -> changed.pathMtu = Objects.requireNonNull(mtu));
  }

  /** What the peer may do through the queue pair; atomics are not among the {@link #DEFAULT}s. */
  public ConnectionOptions withAccess(AccessFlag... flags) {
    return with(changed -> changed.access = Set.copyOf(AccessFlag.setOf(flags)));
  }

  /** READs and atomics outstanding at a time, each way, 0 to 255. */
  public ConnectionOptions withReadAtomic(int count) {
    return with(changed -> changed.readAtomic = FieldRange.check("READs and atomics", count, 8));
  }

  /** How long the peer must wait when no receive is posted: a code, 0 to 31. */
  public ConnectionOptions withMinRnrTimer(int code) {
    return with(changed -> changed.minRnrTimer = FieldRange.check("minimum RNR timer", code, 5));
  }

  /** How long to wait for an acknowledgement: 4.096 us * 2^n, n up to 31; 0 waits indefinitely. */
  public ConnectionOptions withTimeout(int exponent) {
    return with(changed -> changed.timeout = FieldRange.check("timeout", exponent, 5));
  }

  /** Retries after a time-out, 0 to 7. */
  public ConnectionOptions withRetryCount(int count) {
    return with(changed -> changed.retryCount = FieldRange.check("retry count", count, 3));
  }

  /** Retries when the peer has no receive posted, 0 to 6; 7 is infinite. */
  public ConnectionOptions withRnrRetry(int count) {
    return with(changed -> changed.rnrRetry = FieldRange.check("RNR retry count", count, 3));
  }

  /** 20 bits; 0 leaves it to {@link Context#entropy()}. */
  public ConnectionOptions withFlowLabel(int label) {
    return with(changed -> changed.flowLabel = FieldRange.check("flow label", label, 20));
  }

  /** How many routers packets may pass, 0 to 255; 64 by default. */
  public ConnectionOptions withHopLimit(int limit) {
    return with(changed -> changed.hopLimit = FieldRange.check("hop limit", limit, 8));
  }

  /** The traffic class of packets, which holds DSCP and ECN: 8 bits. */
  public ConnectionOptions withTrafficClass(int trafficClass) {
    return with(
        changed -> changed.trafficClass = FieldRange.check("traffic class", trafficClass, 8));
  }

  /** The service level, which chooses the Ethernet priority: 4 bits. */
  public ConnectionOptions withServiceLevel(int level) {
    return with(changed -> changed.serviceLevel = FieldRange.check("service level", level, 4));
  }

  public int port() {
    return values.port;
  }

  public int gidIndex() {
    return values.gidIndex;
  }

  public Mtu pathMtu() {
    return values.pathMtu;
  }

  public Set<AccessFlag> access() {
    return values.access;
  }

  public int readAtomic() {
    return values.readAtomic;
  }

  public int minRnrTimer() {
    return values.minRnrTimer;
  }

  public int timeout() {
    return values.timeout;
  }

  public int retryCount() {
    return values.retryCount;
  }

  public int rnrRetry() {
    return values.rnrRetry;
  }

  public int flowLabel() {
    return values.flowLabel;
  }

  public int hopLimit() {
    return values.hopLimit;
  }

  public int trafficClass() {
    return values.trafficClass;
  }

  public int serviceLevel() {
    return values.serviceLevel;
  }

  private AddressVector addressVector(Gid peer) {
    return new AddressVector(
        peer, gidIndex(), flowLabel(), hopLimit(), trafficClass(), serviceLevel(), port());
  }

  /** Attributes that take a fresh queue pair to INIT; one of datagrams with Q_Key 0x11111111. */
  public QpAttributes toInit(QpType type) {
    QpAttributes attributes = QpAttributes.to(QpState.INIT).pkeyIndex(0).port(port());
    return type == QpType.UD ? attributes.qkey(0x11111111) : attributes.access(access());
  }

  /** Attributes that take it on to RTR. */
  public QpAttributes toRtr(QpType type, QpEndpoint peer) {
    QpAttributes attributes = QpAttributes.to(QpState.RTR);
    if (type == QpType.UD) {
      return attributes;
    }
    attributes
        .addressVector(addressVector(peer.gid()))
        .pathMtu(pathMtu())
        .destinationQpn(peer.qpNumber())
        .receivePsn(peer.psn());
    return type == QpType.UC
        ? attributes
        : attributes.maxDestinationReadAtomic(readAtomic()).minRnrTimer(minRnrTimer());
  }

  /** Attributes that take it on to RTS. */
  public QpAttributes toRts(QpType type, int psn) {
    QpAttributes attributes = QpAttributes.to(QpState.RTS).sendPsn(psn);
    return type == QpType.RC
        ? attributes
            .timeout(timeout())
            .retryCount(retryCount())
            .rnrRetry(rnrRetry())
            .maxReadAtomic(readAtomic())
        : attributes;
  }

  @Override
  public String toString() {
    return ("port %d, GID %d, %s, access %s, %d READs and atomics, timeout %d, %d retries,"
            + " %d RNR retries, minimum RNR timer %d, flow label 0x%05x, hop limit %d,"
            + " traffic class %d, service level %d")
        .formatted(
            port(),
            gidIndex(),
            pathMtu(),
            access(),
            readAtomic(),
            timeout(),
            retryCount(),
            rnrRetry(),
            minRnrTimer(),
            flowLabel(),
            hopLimit(),
            trafficClass(),
            serviceLevel());
  }
}

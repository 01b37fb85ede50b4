package org.hghca.verbs;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * Attributes of a queue pair, with a mask of the set ones: {@code ibv_qp_attr} and its mask.
 * Setting an attribute puts it in the mask. Not thread-safe.
 */
public final class QpAttributes {
  private final EnumSet<QpAttribute> mask = EnumSet.noneOf(QpAttribute.class);
  private QpState state = QpState.RESET;
  private QpState currentState = QpState.RESET;
  private boolean sqdNotify;
  private Set<AccessFlag> access = Set.of();
  private int pkeyIndex;
  private int port;
  private int qkey;
  private AddressVector addressVector = AddressVector.to(Gid.NONE, 0);
  private Mtu pathMtu = Mtu.MTU_256;
  private int timeout;
  private int retryCount;
  private int rnrRetry;
  private int receivePsn;
  private int maxReadAtomic;
  private int minRnrTimer;
  private int sendPsn;
  private int maxDestinationReadAtomic;
  private int destinationQpn;
  private AlternatePath alternatePath = AlternatePath.NONE;
  private PathMigrationState pathMigration = PathMigrationState.MIGRATED;

  /** Attributes for a transition to a state; add those that the transition requires. */
  public static QpAttributes to(QpState state) {
    return new QpAttributes().state(state);
  }

  /** Which attributes are set. */
  public Set<QpAttribute> mask() {
    return EnumSet.copyOf(mask);
  }

  public boolean has(QpAttribute attribute) {
    return mask.contains(attribute);
  }

  private void set(QpAttribute attribute, int value, int bits) {
    FieldRange.check(attribute, value, bits);
    mask.add(attribute);
  }

  /** The state to go to. */
  public QpAttributes state(QpState state) {
    this.state = Objects.requireNonNull(state);
    mask.add(QpAttribute.STATE);
    return this;
  }

  public QpState state() {
    return state;
  }

  /** The assumed current state of the queue pair. */
  public QpAttributes currentState(QpState currentState) {
    this.currentState = Objects.requireNonNull(currentState);
    mask.add(QpAttribute.CUR_STATE);
    return this;
  }

  public QpState currentState() {
    return currentState;
  }

  /**
   * Whether {@link AsyncEventType#SQ_DRAINED} is raised when the send queue, on its way to SQD, has
   * completed all started requests.
   */
  public QpAttributes sqdNotify(boolean sqdNotify) {
    this.sqdNotify = sqdNotify;
    mask.add(QpAttribute.EN_SQD_ASYNC_NOTIFY);
    return this;
  }

  public boolean sqdNotify() {
    return sqdNotify;
  }

  /** The access rights of peers through the queue pair. */
  public QpAttributes access(Set<AccessFlag> access) {
    this.access = Set.copyOf(access);
    mask.add(QpAttribute.ACCESS_FLAGS);
    return this;
  }

  public Set<AccessFlag> access() {
    return access;
  }

  /** Index into the P_Key table. */
  public QpAttributes pkeyIndex(int pkeyIndex) {
    set(QpAttribute.PKEY_INDEX, pkeyIndex, 16);
    this.pkeyIndex = pkeyIndex;
    return this;
  }

  public int pkeyIndex() {
    return pkeyIndex;
  }

  /** The local port, from 1. */
  public QpAttributes port(int port) {
    set(QpAttribute.PORT, port, 8);
    this.port = port;
    return this;
  }

  public int port() {
    return port;
  }

  /** The Q_Key, 32 bits. */
  public QpAttributes qkey(int qkey) {
    mask.add(QpAttribute.QKEY);
    this.qkey = qkey;
    return this;
  }

  public int qkey() {
    return qkey;
  }

  /** The way to the peer. */
  public QpAttributes addressVector(AddressVector addressVector) {
    this.addressVector = Objects.requireNonNull(addressVector);
    mask.add(QpAttribute.AV);
    return this;
  }

  public AddressVector addressVector() {
    return addressVector;
  }

  /** Payload bytes in a packet. */
  public QpAttributes pathMtu(Mtu pathMtu) {
    this.pathMtu = Objects.requireNonNull(pathMtu);
    mask.add(QpAttribute.PATH_MTU);
    return this;
  }

  public Mtu pathMtu() {
    return pathMtu;
  }

  /** Wait for an acknowledgement, 4.096 us * 2^n; 0 is infinite. 5 bits. */
  public QpAttributes timeout(int timeout) {
    set(QpAttribute.TIMEOUT, timeout, 5);
    this.timeout = timeout;
    return this;
  }

  public int timeout() {
    return timeout;
  }

  /** Retries after a time-out or a sequence error. 3 bits. */
  public QpAttributes retryCount(int retryCount) {
    set(QpAttribute.RETRY_CNT, retryCount, 3);
    this.retryCount = retryCount;
    return this;
  }

  public int retryCount() {
    return retryCount;
  }

  /** Retries when the peer has no receive posted; 7 is infinite. 3 bits. */
  public QpAttributes rnrRetry(int rnrRetry) {
    set(QpAttribute.RNR_RETRY, rnrRetry, 3);
    this.rnrRetry = rnrRetry;
    return this;
  }

  public int rnrRetry() {
    return rnrRetry;
  }

  /** The first packet sequence number to receive. 24 bits. */
  public QpAttributes receivePsn(int receivePsn) {
    set(QpAttribute.RQ_PSN, receivePsn, 24);
    this.receivePsn = receivePsn;
    return this;
  }

  public int receivePsn() {
    return receivePsn;
  }

  /** READs and atomics outstanding at the peer. */
  public QpAttributes maxReadAtomic(int maxReadAtomic) {
    set(QpAttribute.MAX_QP_RD_ATOMIC, maxReadAtomic, 8);
    this.maxReadAtomic = maxReadAtomic;
    return this;
  }

  public int maxReadAtomic() {
    return maxReadAtomic;
  }

  /**
   * How long peers must wait when no receive is posted: the code of the InfiniBand specification. 5
   * bits.
   */
  public QpAttributes minRnrTimer(int minRnrTimer) {
    set(QpAttribute.MIN_RNR_TIMER, minRnrTimer, 5);
    this.minRnrTimer = minRnrTimer;
    return this;
  }

  public int minRnrTimer() {
    return minRnrTimer;
  }

  /** The first packet sequence number to send. 24 bits. */
  public QpAttributes sendPsn(int sendPsn) {
    set(QpAttribute.SQ_PSN, sendPsn, 24);
    this.sendPsn = sendPsn;
    return this;
  }

  public int sendPsn() {
    return sendPsn;
  }

  /** READs and atomics of the peer served at a time. */
  public QpAttributes maxDestinationReadAtomic(int maxDestinationReadAtomic) {
    set(QpAttribute.MAX_DEST_RD_ATOMIC, maxDestinationReadAtomic, 8);
    this.maxDestinationReadAtomic = maxDestinationReadAtomic;
    return this;
  }

  public int maxDestinationReadAtomic() {
    return maxDestinationReadAtomic;
  }

  /** The peer's queue pair number. 24 bits. */
  public QpAttributes destinationQpn(int destinationQpn) {
    set(QpAttribute.DEST_QPN, destinationQpn, 24);
    this.destinationQpn = destinationQpn;
    return this;
  }

  public int destinationQpn() {
    return destinationQpn;
  }

  /** The path to migrate to, once {@link #pathMigration} arms it. Both sides set one. */
  public QpAttributes alternatePath(AlternatePath alternatePath) {
    this.alternatePath = Objects.requireNonNull(alternatePath);
    mask.add(QpAttribute.ALT_PATH);
    return this;
  }

  public AlternatePath alternatePath() {
    return alternatePath;
  }

  /**
   * {@link PathMigrationState#REARM} to use the alternate path from now on when the primary one
   * fails, {@link PathMigrationState#MIGRATED} to use it at once, in ARMED.
   */
  public QpAttributes pathMigration(PathMigrationState pathMigration) {
    this.pathMigration = Objects.requireNonNull(pathMigration);
    mask.add(QpAttribute.PATH_MIG_STATE);
    return this;
  }

  public PathMigrationState pathMigration() {
    return pathMigration;
  }

  /** As {@link #access(Set)}. */
  public QpAttributes access(AccessFlag... access) {
    return access(AccessFlag.setOf(access));
  }
}

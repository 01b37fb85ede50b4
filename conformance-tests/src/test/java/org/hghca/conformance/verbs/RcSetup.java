package org.hghca.conformance.verbs;

import java.util.Set;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;

/** The configuration of an {@link RcPair}. */
final class RcSetup {
  private QpType type = QpType.RC;
  private int depth = 16;
  private int sges = 1;
  private int inline;
  private boolean signalAll;
  private boolean singleOwner;
  private boolean connected = true;
  private boolean channel;
  private boolean events;
  private long bufferSize = 1 << 16;
  private Set<AccessFlag> bufferAccess = Side.ALL;
  private ConnectionOptions connection = ConnectionOptions.DEFAULT;
  private int leftPsn = TestProfile.pick(Feature.PSN_WRAP, 0x123456, 0x1234);
  private int rightPsn = TestProfile.pick(Feature.PSN_WRAP, 0xabcdef, 0x5678);

  /** The type of the queue pairs instead of RC. */
  RcSetup type(QpType value) {
    type = value;
    return this;
  }

  QpType type() {
    return type;
  }

  /** Depth of both queues of both queue pairs. */
  RcSetup depth(int value) {
    depth = value;
    return this;
  }

  int depth() {
    return depth;
  }

  RcSetup sges(int value) {
    sges = value;
    return this;
  }

  RcSetup inline(int value) {
    inline = value;
    return this;
  }

  RcSetup signalAll() {
    signalAll = true;
    return this;
  }

  RcSetup singleOwner() {
    singleOwner = true;
    return this;
  }

  /** Leaves the queue pairs in RESET. */
  RcSetup unconnected() {
    connected = false;
    return this;
  }

  /** Gives each side a channel for both its completion queues. */
  RcSetup channel() {
    channel = true;
    return this;
  }

  boolean hasChannel() {
    return channel;
  }

  /** Each wait for a completion ends by an event on the side's channel. */
  RcSetup events() {
    events = true;
    return channel();
  }

  boolean waitsForEvents() {
    return events;
  }

  RcSetup bufferSize(long value) {
    bufferSize = value;
    return this;
  }

  long bufferSize() {
    return bufferSize;
  }

  RcSetup bufferAccess(AccessFlag... value) {
    bufferAccess = Set.of(value);
    return this;
  }

  Set<AccessFlag> bufferAccess() {
    return bufferAccess;
  }

  RcSetup mtu(Mtu value) {
    connection = connection.withPathMtu(value);
    return this;
  }

  /** Fields of the network headers. */
  RcSetup path(int flowLabel, int trafficClass, int hopLimit) {
    connection =
        connection.withFlowLabel(flowLabel).withTrafficClass(trafficClass).withHopLimit(hopLimit);
    return this;
  }

  /** Access that peers have through the queue pairs. */
  RcSetup qpAccess(AccessFlag... value) {
    connection = connection.withAccess(value);
    return this;
  }

  RcSetup readAtomic(int value) {
    connection = connection.withReadAtomic(value);
    return this;
  }

  /** Codes and counts as in libibverbs. */
  RcSetup retries(int minRnrTimer, int rnrRetry, int timeout, int retryCount) {
    connection =
        connection
            .withMinRnrTimer(minRnrTimer)
            .withRnrRetry(rnrRetry)
            .withTimeout(timeout)
            .withRetryCount(retryCount);
    return this;
  }

  ConnectionOptions connection() {
    return connection;
  }

  /** The initial PSNs of both directions. */
  RcSetup psns(int left, int right) {
    leftPsn = left;
    rightPsn = right;
    return this;
  }

  /** Initial PSNs whose distance to the wrap suits the profile. */
  static int randomPsn(SplittableRandom random) {
    return random.nextInt(TestProfile.pick(Feature.PSN_WRAP, 1 << 24, 1 << 16));
  }

  int leftPsn() {
    return leftPsn;
  }

  int rightPsn() {
    return rightPsn;
  }

  boolean connected() {
    return connected;
  }

  QueuePairConfig apply(QueuePairConfig config) {
    QueuePairConfig a =
        config
            .sendDepth(depth)
            .receiveDepth(depth)
            .maxSendSge(sges)
            .maxReceiveSge(sges)
            .maxInline(inline);
    a = signalAll ? a.signalAll() : a;
    return singleOwner ? a.singleOwner() : a;
  }

  /** Creates the pair on the devices under test; closing the pair closes them. */
  RcPair open() {
    return new RcPair(Fabric.open(), this);
  }

  /** Creates the pair on a fabric, which the pair owns. */
  RcPair on(Fabric fabric) {
    return new RcPair(fabric, this);
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Alternate paths: between the link-local GIDs, and between the IPv4 addresses of two ports. */
@Needs(Feature.PATH_MIGRATION)
class AlternatePathTest {
  private static final int LENGTH = 3000;
  private static final int TIMEOUT = 9;
  private static final long NOBODY = 0x0200_dead_0001L;

  private final SplittableRandom random = new SplittableRandom(5);

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private static RcPair open(RcSetup setup) {
    RcPair pair = setup.retries(12, 7, 10, 2).on(Fabric.inline());
    addNeighbor(pair.left, pair.right);
    addNeighbor(pair.right, pair.left);
    return pair;
  }

  private static void addNeighbor(Side at, Side of) {
    at.context.addNeighbor(ipv4(of.context).gid(), ofMac(of).mac().orElseThrow());
  }

  private static Gid ofMac(Side side) {
    return side.context.queryGid(1, 0);
  }

  private static GidEntry ipv4(Context context) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().ipv4().isPresent())
        .findFirst()
        .orElseThrow();
  }

  private static AlternatePath pathTo(Side from, Gid to) {
    AddressVector vector =
        new AddressVector(to, ipv4(from.context).index(), 0x12345, 33, 0x40, 3, 1);
    return new AlternatePath(vector, 0, TIMEOUT);
  }

  private static void rearm(Side side, Side peer) {
    side.qp.modify(
        new QpAttributes()
            .alternatePath(pathTo(side, ipv4(peer.context).gid()))
            .pathMigration(PathMigrationState.REARM));
  }

  private void arm(RcPair pair) {
    rearm(pair.left, pair.right);
    rearm(pair.right, pair.left);
    assertThat(state(pair.left)).isEqualTo(PathMigrationState.REARM);
    exchange(pair);
    assertThat(state(pair.left)).isEqualTo(PathMigrationState.ARMED);
    assertThat(state(pair.right)).isEqualTo(PathMigrationState.ARMED);
  }

  private static PathMigrationState state(Side side) {
    return side.qp.query().pathMigration();
  }

  private void exchange(RcPair pair) {
    send(pair.left, pair.right);
    send(pair.right, pair.left);
  }

  private void send(Side from, Side to) {
    from.randomize(0, LENGTH, random);
    to.expect(8192, from, 0, LENGTH);
    to.postReceive(2, 8192, LENGTH);
    from.qp.postSend(from.send.wrId(1).send().sge(from.buffer, 0, LENGTH).signaled());
    Side.assertSuccess(from.sent());
    Side.assertSuccess(to.received());
    to.verify("what came");
  }

  private static void assertEvent(Side side, AsyncEventType type) {
    AsyncEvent event = Events.await(side.context);
    assertThat(event.type()).isEqualTo(type);
    assertThat(Events.object(event)).isEqualTo(side.qp);
    event.acknowledge();
  }

  /** The primary path of a side leads nowhere from now on. */
  private static void cut(Side side, Side peer) {
    AddressVector path = side.qp.query().addressVector();
    side.context.addNeighbor(ofMac(peer), NOBODY);
    side.qp.modify(QpAttributes.to(QpState.SQD));
    side.qp.modify(QpAttributes.to(QpState.SQD).addressVector(path));
    side.qp.modify(QpAttributes.to(QpState.RTS));
  }

  private static void assertMigrated(Side side, Side peer) {
    QpAttributes now = side.qp.query();
    assertThat(now.pathMigration()).isEqualTo(PathMigrationState.MIGRATED);
    assertThat(now.addressVector()).isEqualTo(pathTo(side, ipv4(peer.context).gid()).vector());
    assertThat(now.timeout()).isEqualTo(TIMEOUT);
    assertThat(now.alternatePath().vector().destination()).isEqualTo(ofMac(peer));
    assertThat(now.alternatePath().timeout()).isEqualTo(10);
  }

  @Test
  @VerbsCase(says = "query returns the alternate path and path_mig_state")
  void aQueryReturnsThePathAndItsState() {
    try (RcPair pair = open(new RcSetup())) {
      assertThat(pair.left.context.queryDevice().support(DeviceFeature.PATH_MIGRATION))
          .isEqualTo(FeatureSupport.NATIVE);
      QpAttributes before = pair.left.qp.query();
      assertThat(before.pathMigration()).isEqualTo(PathMigrationState.MIGRATED);
      assertThat(before.alternatePath()).isEqualTo(AlternatePath.NONE);
      rearm(pair.left, pair.right);
      QpAttributes now = pair.left.qp.query();
      assertThat(now.pathMigration()).isEqualTo(PathMigrationState.REARM);
      assertThat(now.alternatePath()).isEqualTo(pathTo(pair.left, ipv4(pair.right.context).gid()));
      assertThat(now.addressVector()).isEqualTo(before.addressVector());
      exchange(pair);
      assertThat(state(pair.left))
          .as("the peer has no alternate path")
          .isEqualTo(now.pathMigration());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  @VerbsCase(says = "MIGRATED: the connection changes its path, the peer follows: PATH_MIG")
  void aProgramMigratesAnArmedConnectionAndThePeerFollows(QpType type) {
    try (RcPair pair = open(new RcSetup().type(type))) {
      arm(pair);
      pair.left.qp.modify(new QpAttributes().pathMigration(PathMigrationState.MIGRATED));
      assertThat(state(pair.left)).isEqualTo(PathMigrationState.MIGRATED);
      assertThat(state(pair.right)).isEqualTo(PathMigrationState.ARMED);
      send(pair.left, pair.right);
      assertEvent(pair.right, AsyncEventType.PATH_MIG);
      send(pair.right, pair.left);
      assertThat(pair.left.qp.query().addressVector().destination())
          .isEqualTo(ipv4(pair.right.context).gid());
      assertThat(pair.right.qp.query().addressVector().destination())
          .isEqualTo(ipv4(pair.left.context).gid());
      assertThat(Events.poll(pair.left.context)).isEmpty();
    }
  }

  @Test
  @VerbsCase(says = "the first path is cut: after retry_cnt it migrates, PATH_MIG, nothing lost")
  void aConnectionWhoseRetriesAreUsedUpMigrates() {
    try (RcPair pair = open(new RcSetup())) {
      arm(pair);
      cut(pair.left, pair.right);
      assertThat(state(pair.left)).isEqualTo(PathMigrationState.ARMED);
      send(pair.left, pair.right);
      assertEvent(pair.left, AsyncEventType.PATH_MIG);
      assertEvent(pair.right, AsyncEventType.PATH_MIG);
      exchange(pair);
      assertMigrated(pair.left, pair.right);
      assertMigrated(pair.right, pair.left);
    }
  }

  @Test
  void theResponderMigratesWithoutRequestsOfItsOwn() {
    try (RcPair pair =
        open(new RcSetup().bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ))) {
      arm(pair);
      cut(pair.left, pair.right);
      pair.right.randomize(0, 40_000, random);
      pair.left.expect(0, pair.right, 0, 40_000);
      pair.left.qp.postSend(pair.read(0).sge(pair.left.buffer, 0, 40_000).signaled());
      Side.assertSuccess(pair.left.sent());
      pair.left.verify("what was read by the alternate path");
      assertMigrated(pair.right, pair.left);
      Events.poll(pair.left.context);
      Events.poll(pair.right.context);
    }
  }

  @Test
  @VerbsCase(tier = Tier.CONTRACT, source = VerbsCase.CONTRACT, says = "not armed: RETRY_EXC_ERR")
  void withoutAnArmedPathTheRetriesEndAsBefore() {
    try (RcPair pair = open(new RcSetup())) {
      rearm(pair.left, pair.right);
      cut(pair.left, pair.right);
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertThat(Events.poll(pair.left.context)).isEmpty();
    }
  }

  @Test
  @VerbsCase(says = "a new path is loaded and rearmed after a migration")
  void laterChangesKeepThePathAndItCanBeArmedAgain() {
    try (RcPair pair = open(new RcSetup())) {
      arm(pair);
      cut(pair.left, pair.right);
      send(pair.left, pair.right);
      assertEvent(pair.left, AsyncEventType.PATH_MIG);
      assertEvent(pair.right, AsyncEventType.PATH_MIG);
      pair.left.qp.modify(new QpAttributes().minRnrTimer(5));
      pair.right.qp.modify(new QpAttributes().access(AccessFlag.REMOTE_WRITE));
      assertMigrated(pair.left, pair.right);
      assertMigrated(pair.right, pair.left);
      exchange(pair);
      QpAttributes again = new QpAttributes().pathMigration(PathMigrationState.REARM);
      pair.left.qp.modify(again);
      pair.right.qp.modify(again);
      exchange(pair);
      pair.right.qp.modify(new QpAttributes().pathMigration(PathMigrationState.MIGRATED));
      send(pair.right, pair.left, false);
      assertEvent(pair.left, AsyncEventType.PATH_MIG);
      assertThat(pair.right.qp.query().addressVector().destination()).isEqualTo(ofMac(pair.left));
    }
  }

  /** As {@link #send}, of a request that stays without an answer: the way back is cut. */
  private void send(Side from, Side to, boolean answered) {
    assertThat(answered).isFalse();
    from.randomize(0, LENGTH, random);
    to.expect(8192, from, 0, LENGTH);
    to.postReceive(2, 8192, LENGTH);
    from.qp.postSend(from.send.wrId(1).send().sge(from.buffer, 0, LENGTH));
    Side.assertSuccess(to.received());
  }

  @Test
  @VerbsCase(says = "a peer that migrates to another path than the armed one: PATH_MIG_ERR")
  void aPeerOnAnotherPathThanTheAlternateOneIsAnEvent() {
    try (RcPair pair = open(new RcSetup())) {
      rearm(pair.left, pair.right);
      Gid elsewhere = Gid.ofIpv4(0xc633_6401);
      pair.right.context.addNeighbor(elsewhere, NOBODY);
      pair.right.qp.modify(
          new QpAttributes()
              .alternatePath(pathTo(pair.right, elsewhere))
              .pathMigration(PathMigrationState.REARM));
      exchange(pair);
      pair.left.qp.modify(new QpAttributes().pathMigration(PathMigrationState.MIGRATED));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertEvent(pair.right, AsyncEventType.PATH_MIG_ERR);
      assertThat(Events.poll(pair.right.context)).as("told once").isEmpty();
      assertThat(state(pair.right)).isEqualTo(PathMigrationState.ARMED);
    }
  }

  @Test
  @VerbsCase(says = "REARM without a path, ARMED, and MIGRATED before the device is ARMED: EINVAL")
  void theStatesFollowEachOther() {
    try (RcPair pair = open(new RcSetup())) {
      QueuePair qp = pair.left.qp;
      QpAttributes armed = new QpAttributes().pathMigration(PathMigrationState.ARMED);
      QpAttributes rearm = new QpAttributes().pathMigration(PathMigrationState.REARM);
      QpAttributes migrated = new QpAttributes().pathMigration(PathMigrationState.MIGRATED);
      assertErrno(Errno.EINVAL, () -> qp.modify(rearm), "REARM needs an alternate path");
      assertErrno(Errno.EINVAL, () -> qp.modify(armed), "ARMED comes from the device");
      qp.modify(migrated); // it is
      rearm(pair.left, pair.right);
      assertErrno(Errno.EINVAL, () -> qp.modify(migrated), "MIGRATED follows ARMED");
      assertErrno(Errno.EINVAL, () -> qp.modify(armed), "ARMED comes from the device");
      assertThat(state(pair.left)).isEqualTo(PathMigrationState.REARM);
      qp.modify(QpAttributes.to(QpState.RESET));
      assertThat(qp.query().alternatePath()).isEqualTo(AlternatePath.NONE);
    }
  }

  @Test
  @VerbsCase(
      says = "an alternate path of another port or P_Key, to a group, or without GRH: EINVAL")
  void aWrongPathIsRefused() {
    try (RcPair pair = open(new RcSetup())) {
      QueuePair qp = pair.left.qp;
      Gid group = Gid.ofIpv4(0xef01_0203);
      Gid there = ipv4(pair.right.context).gid();
      AlternatePath otherPort = new AlternatePath(AddressVector.to(there, 1, 2), 0, 14);
      AlternatePath otherKey = new AlternatePath(AddressVector.to(there, 1), 1, 14);
      AlternatePath toGroup = new AlternatePath(AddressVector.to(group, 1), 0, 14);
      AlternatePath none = AlternatePath.NONE;
      assertErrno(
          Errno.EINVAL, () -> qp.modify(new QpAttributes().alternatePath(otherPort)), "port 2");
      assertErrno(
          Errno.EINVAL, () -> qp.modify(new QpAttributes().alternatePath(otherKey)), "P_Key");
      assertErrno(
          Errno.EINVAL, () -> qp.modify(new QpAttributes().alternatePath(toGroup)), "multicast");
      assertErrno(
          Errno.EINVAL, () -> qp.modify(new QpAttributes().alternatePath(none)), "global route");
      exchange(pair);
    }
  }

  @Test
  void linksOfTheKernelCarryBothPaths() {
    Fabric fabric =
        Fabric.on(
            "model:apm-left?net=udp:127.0.6.21,127.0.6.22",
            "model:apm-right?net=udp:127.0.6.23,127.0.6.24");
    try (RcPair pair = new RcSetup().on(fabric)) {
      pair.left.qp.modify(rearm(Gid.ofIpv4(0x7f00_0618)));
      pair.right.qp.modify(rearm(Gid.ofIpv4(0x7f00_0616)));
      exchange(pair);
      exchange(pair);
      assertThat(state(pair.left)).isEqualTo(PathMigrationState.ARMED);
      assertThat(state(pair.right)).isEqualTo(PathMigrationState.ARMED);
      pair.left.qp.modify(new QpAttributes().pathMigration(PathMigrationState.MIGRATED));
      send(pair.left, pair.right);
      assertEvent(pair.right, AsyncEventType.PATH_MIG);
      exchange(pair);
      assertThat(pair.left.qp.query().addressVector().destination())
          .isEqualTo(Gid.ofIpv4(0x7f00_0618));
      assertThat(pair.right.qp.query().addressVector().destination())
          .isEqualTo(Gid.ofIpv4(0x7f00_0616));
    }
  }

  /** To and from the second address of a port. */
  private static QpAttributes rearm(Gid to) {
    return new QpAttributes()
        .alternatePath(new AlternatePath(AddressVector.to(to, 1), 0, 14))
        .pathMigration(PathMigrationState.REARM);
  }

  @Test
  void asTheDocumentsCardItHasNone() {
    try (RcPair pair = new RcSetup().on(Fabric.inline("&as=s"))) {
      QueuePair qp = pair.left.qp;
      assertThat(pair.left.context.queryDevice().support(DeviceFeature.PATH_MIGRATION))
          .isEqualTo(FeatureSupport.MISSING);
      AlternatePath path = new AlternatePath(AddressVector.to(ofMac(pair.right), 0), 0, 14);
      assertErrno(
          Errno.EOPNOTSUPP, () -> qp.modify(new QpAttributes().alternatePath(path)), "only a");
      QpAttributes rearm = new QpAttributes().pathMigration(PathMigrationState.REARM);
      assertErrno(Errno.EOPNOTSUPP, () -> qp.modify(rearm), "only a software HCA");
      exchange(pair);
    }
  }

  @Test
  void newQueuePairHasNoPathsOfAnother() {
    try (RcPair pair = open(new RcSetup())) {
      arm(pair);
      exchange(pair); // the device has read this context last
      QueuePairConfig config =
          QueuePairConfig.of(QpType.UD, pair.left.sendQueue, pair.left.receiveQueue);
      try (QueuePair other = pair.left.pd.createQueuePair(config)) {
        other.activate(0x1111);
        assertThat(other.query().pathMigration()).isNotEqualTo(PathMigrationState.ARMED);
      }
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.hghca.conformance.profile.DeviceClaims;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Feature.Says;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Use of a missing feature fails with an error, and everything else continues to work. */
class MissingFeaturesTest {

  /** Features that neither the document nor the driver has. */
  private static final Set<DeviceFeature> NOWHERE =
      EnumSet.of(DeviceFeature.MEMORY_WINDOWS, DeviceFeature.ON_DEMAND_PAGING);

  private static final Gid GROUP = Gid.ofIpv4(0xef01_0203);

  @ParameterizedTest
  @EnumSource
  void verbOfAMissingFeatureFailsWithEopnotsupp(Feature feature) {
    if (TestProfile.has(feature) || feature.says() != Says.ERROR) {
      return; // Present features have tests of their own; the rest are only device attributes.
    }
    try (RcPair pair = new RcSetup().channel().open()) {
      assertRefused(feature, pair);
      pair.left.assertQuiet();
      new Transfer(pair.left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 3000), Pieces.one(0, 3000));
    }
  }

  private static void assertRefused(Feature feature, RcPair pair) {
    Side left = pair.left;
    SendRequest send = left.send;
    DeviceAttributes device = left.context.queryDevice();
    long there = pair.right.address(0);
    int rkey = pair.right.buffer.rkey();
    switch (feature) {
      case ATOMICS -> {
        assertThat(device.atomics()).isFalse();
        send.fetchAndAdd(there, rkey, 1).sge(left.buffer, 0, 8);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send));
        send.compareAndSwap(there, rkey, 1, 2).sge(left.buffer, 0, 8);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send));
      }
      case SEND_WITH_IMMEDIATE -> {
        send.sendWithImmediate(1).sge(left.buffer, 0, 8);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send));
      }
      case ZERO_LENGTH -> {
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send.send()));
        send.rdmaWrite(there, rkey).sge(left.buffer, 0, 0);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send));
        send.rdmaRead(there, rkey).sge(left.buffer, 5, 0);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.postSend(send));
      }
      case SHARED_RECEIVE_QUEUES -> {
        assertThat(device.maxSrq()).isZero();
        assertErrno(
            Errno.EOPNOTSUPP,
            () -> left.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1)));
      }
      case SOLICITED_ONLY ->
          assertErrno(Errno.EOPNOTSUPP, () -> left.receiveQueue.requestNotify(true));
      case SQD -> {
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.modify(QpAttributes.to(QpState.SQD)));
        assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
      }
      case LOCAL_ERROR_COMPLETIONS -> {
        send.send().sge(left.address(0), 8, left.buffer.lkey() + 1);
        assertErrno(Errno.EINVAL, () -> left.qp.postSend(send));
      }
      case DEREGISTERING_IN_USE -> assertRegionStays(pair);
      case ANY_DESTINATION -> {
        assertErrno(Errno.EINVAL, () -> left.postReceive(1, 4090, 50));
        send.rdmaWrite(there + 4090, rkey).sge(left.buffer, 0, 10);
        assertErrno(Errno.EINVAL, () -> left.qp.postSend(send));
        send.rdmaRead(there, rkey).sge(left.buffer, 4090, 10);
        assertErrno(Errno.EINVAL, () -> left.qp.postSend(send));
      }
      case QUEUE_PAIR_NUMBERS_FOR_EVER -> assertNumbersEnd(left);
      case INLINE_DATAGRAMS -> assertDatagramsAreNotInline(left);
      case RECONNECTION -> {
        try (QueuePair qp =
            left.pd.createQueuePair(QueuePairConfig.rc(left.sendQueue, left.receiveQueue))) {
          RcPair.connectReceiver(pair.setup(), qp, pair.right.qp, 0);
          assertErrno(Errno.EIO, () -> qp.modify(QpAttributes.to(QpState.RESET)));
        }
      }
      case MULTICAST -> assertErrno(Errno.EOPNOTSUPP, () -> left.qp.attachMulticast(GROUP));
      case PATH_MIGRATION -> {
        QpAttributes rearm = new QpAttributes().pathMigration(PathMigrationState.REARM);
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.modify(rearm));
        AddressVector to = AddressVector.to(pair.right.context.queryGid(1, 0), 0);
        QpAttributes path = new QpAttributes().alternatePath(new AlternatePath(to, 0, 14));
        assertErrno(Errno.EOPNOTSUPP, () -> left.qp.modify(path));
      }
      case RESIZE_CQ -> assertErrno(Errno.EOPNOTSUPP, () -> left.sendQueue.resize(32));
      case REREGISTRATION ->
          assertErrno(
              Errno.EOPNOTSUPP,
              () -> left.buffer.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE)));
      case GSI_QUEUE_PAIR -> {
        QueuePairConfig gsi = QueuePairConfig.gsi(left.sendQueue, left.receiveQueue);
        assertErrno(Errno.EOPNOTSUPP, () -> left.pd.createQueuePair(gsi));
      }
      default -> throw new AssertionError(feature + " has no verb that could fail");
    }
  }

  private static void assertDatagramsAreNotInline(Side side) {
    try (QueuePair qp =
            side.pd.createQueuePair(
                QueuePairConfig.ud(side.sendQueue, side.receiveQueue).maxInline(8));
        AddressHandle handle =
            side.pd.createAddressHandle(AddressVector.to(side.context.queryGid(1, 0), 0))) {
      qp.activate(Side.QKEY);
      SendRequest send = side.send.send().to(handle, qp.number(), Side.QKEY);
      assertErrno(Errno.EOPNOTSUPP, () -> qp.postSend(send.sge(side.buffer, 0, 8).inline()));
    }
  }

  /** A region that a receive names stays registered until the receive completes. */
  private static void assertRegionStays(RcPair pair) {
    MemoryRegion region = pair.right.pd.allocate(64, Side.ALL);
    pair.right.qp.postReceive(pair.right.receive.wrId(1).into(region));
    assertErrno(Errno.EBUSY, region::close);
    pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 64).signaled());
    Side.assertSuccess(pair.left.sent());
    Side.assertSuccess(pair.right.received());
    region.close();
  }

  /** The numbers of used datagram queue pairs are not reused. */
  private static void assertNumbersEnd(Side side) {
    List<Integer> numbers = new ArrayList<>();
    VerbsException end =
        catchThrowableOfType(
            VerbsException.class,
            () -> {
              while (numbers.size() < 1 << 14) {
                try (QueuePair qp =
                    side.pd.createQueuePair(
                        QueuePairConfig.ud(side.sendQueue, side.receiveQueue)
                            .sendDepth(1)
                            .receiveDepth(1))) {
                  qp.activate(Side.QKEY);
                  assertThat(qp.type()).isEqualTo(QpType.UD);
                  numbers.add(qp.number());
                }
              }
            });
    assertThat(end.errno()).isEqualTo(Errno.ENOMEM);
    assertThat(end).hasMessageContaining("retired");
    assertThat(numbers).doesNotHaveDuplicates().hasSizeGreaterThan(200);
  }

  /** The device reports as missing exactly the features that the facts list as missing. */
  @Test
  void deviceAttributesMatchTheListOfFeatures() {
    try (Fabric fabric = Fabric.open()) {
      DeviceAttributes device = fabric.left().queryDevice();
      assertThat(Feature.values())
          .filteredOn(feature -> DeviceClaims.lacks(device, feature))
          .containsExactlyInAnyOrderElementsOf(Feature.missingOn(TestProfile.name()));
      assertThat(device.quirks().isEmpty())
          .isEqualTo(Feature.missingOn(TestProfile.name()).isEmpty());
      assertThat(NOWHERE).noneMatch(device::has);
    }
  }
}

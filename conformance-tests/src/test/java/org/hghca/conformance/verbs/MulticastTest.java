package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams to multicast groups of queue pairs. */
@Needs(Feature.MULTICAST)
class MulticastTest {
  private static final Gid GROUP = Gid.ofIpv4(0xef01_0203);
  private static final Gid OTHER = Gid.ofIpv4(0xef01_0204);

  /** The same Ethernet address as {@link #GROUP}, which has 23 of the address's bits. */
  private static final Gid SAME_MAC = Gid.ofIpv4(0xe081_0203);

  private static final int QKEY = 0x1111_1111;
  private static final int HEADER = GlobalRouteHeader.LENGTH;
  private static final int RECEIVE = 1 << 15;
  private static final int LENGTH = 200;

  private final SplittableRandom random = new SplittableRandom(3);

  private static RcSetup datagrams() {
    return new RcSetup().type(QpType.UD);
  }

  private static int ipv4Index(Context context) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().ipv4().isPresent())
        .findFirst()
        .orElseThrow()
        .index();
  }

  /** The link-local GID is the first one. */
  private static int sourceIndex(Context context, Gid group) {
    return group.ipv4().isPresent() ? ipv4Index(context) : 0;
  }

  private void send(Side from, Gid group, int qkey) {
    from.randomize(0, LENGTH, random);
    AddressVector to = AddressVector.to(group, sourceIndex(from.context, group));
    try (AddressHandle handle = from.pd.createAddressHandle(to)) {
      from.qp.postSend(
          from.send
              .sendWithImmediate(from.qp.number())
              .to(handle, QueuePair.MULTICAST_NUMBER, qkey)
              .sge(from.buffer, 0, LENGTH)
              .signaled());
      Side.assertSuccess(from.sent());
    }
  }

  private static void assertReceived(Side by, Side from, Gid group) {
    Completions found = new Completions(1);
    by.fabric.await(() -> by.receiveQueue.poll(found) == 1, () -> "no copy has come");
    assertThat(found.byteLength(0)).isEqualTo(HEADER + LENGTH);
    assertThat(found.sourceQp(0)).isEqualTo(from.qp.number());
    assertThat(found.immediate(0)).isEqualTo(from.qp.number());
    assertThat(found.flags(0) & Completions.GRH).isNotZero();
    MemorySegment received = by.memory().asSlice(RECEIVE, HEADER + LENGTH);
    GlobalRouteHeader header = GlobalRouteHeader.of(received);
    assertThat(header.destinationGid()).isEqualTo(group);
    assertThat(header.sourceGid())
        .isEqualTo(from.context.queryGid(1, sourceIndex(from.context, group)));
    assertThat(received.asSlice(HEADER).mismatch(from.memory().asSlice(0, LENGTH))).isEqualTo(-1);
  }

  /**
   * A member of groups that takes none of what is sent to the others: it has another Q_Key. It is
   * detached before it is closed.
   */
  private static Side witness(RcPair pair, Gid... groups) {
    Side witness = new Side(pair.fabric, pair.fabric.right(), datagrams());
    witness.qp.activate(QKEY + 1);
    for (Gid group : groups) {
      witness.qp.attachMulticast(group);
    }
    return witness;
  }

  /**
   * Waits until all that was sent to a group so far has arrived, whether or not anybody takes it: a
   * datagram for the witness, which is sent behind it, has.
   */
  private void awaitArrival(Side from, Side witness, Gid group) {
    post(witness);
    send(from, group, QKEY + 1);
    assertReceived(witness, from, group);
  }

  private static void post(Side... sides) {
    for (Side side : sides) {
      side.postReceive(1, RECEIVE, HEADER + LENGTH);
    }
  }

  private static void activate(Side... sides) {
    for (Side side : sides) {
      side.qp.activate(QKEY);
    }
  }

  @Test
  void groupsOfIpv6AreReachedFromIpv6() {
    try (RcPair pair = datagrams().open()) {
      Gid group = Gid.ofHex("ff120000000000000000000000004711");
      Gid sameMac = Gid.ofHex("ff150000000000000000000000004711");
      pair.left.qp.attachMulticast(group);
      pair.right.qp.attachMulticast(group);
      post(pair.left, pair.right);
      send(pair.left, sameMac, QKEY);
      pair.right.assertQuiet();
      send(pair.left, group, QKEY);
      assertReceived(pair.left, pair.left, group);
      Completions found = new Completions(1);
      pair.fabric.await(() -> pair.right.receiveQueue.poll(found) == 1, () -> "no copy has come");
      MemorySegment header = pair.right.memory().asSlice(RECEIVE, HEADER);
      try (AddressHandle back = pair.right.pd.createAddressHandle(found, 0, header, 1)) {
        assertThat(back.vector().destination()).isEqualTo(pair.left.context.queryGid(1, 0));
        assertThat(back.vector().sourceGidIndex()).isZero();
      }
      pair.left.qp.detachMulticast(group);
      pair.right.qp.detachMulticast(group);
    }
  }

  @Test
  @VerbsCase(
      says = "a datagram to a group: one copy for each attached queue pair, the sender included")
  void everyQueuePairOfTheGroupGetsACopyTheSenderIncluded() {
    try (RcPair pair = datagrams().open();
        Side second = new Side(pair.fabric, pair.fabric.right(), datagrams());
        Side outside = new Side(pair.fabric, pair.fabric.right(), datagrams())) {
      activate(second, outside);
      List<Side> members = List.of(pair.left, pair.right, second);
      members.forEach(side -> side.qp.attachMulticast(GROUP));
      outside.qp.attachMulticast(OTHER);
      post(pair.left, pair.right, second, outside);
      send(pair.left, GROUP, QKEY);
      members.forEach(side -> assertReceived(side, pair.left, GROUP));
      outside.assertQuiet();
      members.forEach(side -> side.qp.detachMulticast(GROUP));
      outside.qp.detachMulticast(OTHER);
    }
  }

  @Test
  @VerbsCase(says = "an AH from the completion of a copy reaches the sender")
  void handleOfACopyReachesTheSender() {
    try (RcPair pair = datagrams().open()) {
      Side left = pair.left;
      Side right = pair.right;
      right.qp.attachMulticast(GROUP);
      right.postReceive(1, RECEIVE, HEADER + LENGTH);
      send(left, GROUP, QKEY);
      Completions found = new Completions(1);
      pair.fabric.await(() -> right.receiveQueue.poll(found) == 1, () -> "no copy has come");
      right.context.addNeighbor(
          left.context.queryGid(1, 1), left.context.queryGid(1, 0).mac().orElseThrow());
      MemorySegment header = right.memory().asSlice(RECEIVE, HEADER);
      left.postReceive(1, RECEIVE, HEADER + 8);
      try (AddressHandle back = right.pd.createAddressHandle(found, 0, header, 1)) {
        right.qp.postSend(
            right.send.send().to(back, found.sourceQp(0), QKEY).sge(right.buffer, 0, 8));
      }
      Side.assertSuccess(left.received());
      right.qp.detachMulticast(GROUP);
    }
  }

  @Test
  @VerbsCase(says = "another Q_Key, another group or no receive: no copy, no error")
  void wrongQkeyAnotherGroupOrNoReceiveDeliversNothing() {
    try (RcPair pair = datagrams().open();
        Side witness = witness(pair, GROUP, OTHER, SAME_MAC)) {
      pair.right.qp.attachMulticast(GROUP);
      send(pair.left, GROUP, QKEY); // finds no receive
      awaitArrival(pair.left, witness, GROUP);
      post(pair.right);
      awaitArrival(pair.left, witness, GROUP); // the Q_Key is that of the witness
      for (Gid group : List.of(OTHER, SAME_MAC)) {
        send(pair.left, group, QKEY);
        awaitArrival(pair.left, witness, group);
      }
      assertThat(Wc.drain(pair.right.receiveQueue)).isEmpty();
      send(pair.left, GROUP, QKEY);
      assertReceived(pair.right, pair.left, GROUP);
      pair.right.qp.detachMulticast(GROUP);
      List.of(GROUP, OTHER, SAME_MAC).forEach(witness.qp::detachMulticast);
    }
  }

  @Test
  void groupsWithOneEthernetAddressAreSeparate() {
    try (RcPair pair = datagrams().open();
        Side second = new Side(pair.fabric, pair.fabric.right(), datagrams())) {
      activate(second);
      pair.right.qp.attachMulticast(GROUP);
      second.qp.attachMulticast(SAME_MAC);
      post(pair.right, second);
      send(pair.left, SAME_MAC, QKEY);
      assertReceived(second, pair.left, SAME_MAC);
      pair.right.assertQuiet();
      second.qp.detachMulticast(SAME_MAC);
      send(pair.left, GROUP, QKEY);
      assertReceived(pair.right, pair.left, GROUP);
      pair.right.qp.detachMulticast(GROUP);
    }
  }

  @Test
  @VerbsCase(says = "attaching twice counts once; after detaching no copy; not attached: EINVAL")
  void attachingTwiceCountsOnceAndDetachingEndsIt() {
    try (RcPair pair = datagrams().open()) {
      pair.right.qp.attachMulticast(GROUP);
      pair.right.qp.attachMulticast(GROUP);
      post(pair.right, pair.right);
      send(pair.left, GROUP, QKEY);
      assertReceived(pair.right, pair.left, GROUP);
      pair.right.assertQuiet();
      pair.right.qp.detachMulticast(GROUP);
      assertErrno(
          Errno.EINVAL, () -> pair.right.qp.detachMulticast(GROUP), "does not take part in");
      send(pair.left, GROUP, QKEY);
      pair.right.assertQuiet();
    }
  }

  @Test
  void queuePairStaysInItsGroupsAcrossItsStates() {
    try (RcPair pair = datagrams().open();
        Side witness = witness(pair, GROUP)) {
      QueuePair right = pair.right.qp;
      right.modify(QpAttributes.to(QpState.RESET));
      right.attachMulticast(GROUP);
      send(pair.left, GROUP, QKEY);
      awaitArrival(pair.left, witness, GROUP);
      right.activate(QKEY);
      post(pair.right);
      send(pair.left, GROUP, QKEY);
      assertReceived(pair.right, pair.left, GROUP);
      right.detachMulticast(GROUP);
      witness.qp.detachMulticast(GROUP);
    }
  }

  @Test
  @VerbsCase(says = "a queue pair that is attached to a group is EBUSY when closed")
  void queuePairInAGroupIsNotClosed() {
    try (RcPair pair = datagrams().open()) {
      QueuePair qp = pair.right.qp;
      qp.attachMulticast(GROUP);
      qp.attachMulticast(OTHER);
      assertErrno(Errno.EBUSY, qp::close, "%s, %s: detach it first".formatted(GROUP, OTHER));
      qp.detachMulticast(GROUP);
      assertErrno(Errno.EBUSY, qp::close, "takes part in multicast groups: %s".formatted(OTHER));
      qp.detachMulticast(OTHER);
    }
  }

  @Test
  @VerbsCase(says = "attaching a queue pair that is not UD is EINVAL")
  void onlyUdQueuePairsAttach() {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      QueuePair qp = pair.left.qp;
      assertErrno(Errno.EINVAL, () -> qp.attachMulticast(GROUP), "only UD queue pairs");
      assertErrno(Errno.EINVAL, () -> qp.detachMulticast(GROUP), "does not take part");
      qp.modify(pair.setup().connection().toInit(QpType.RC));
      QpAttributes toGroup =
          pair.setup()
              .connection()
              .withGidIndex(ipv4Index(pair.left.context))
              .toRtr(QpType.RC, new QpEndpoint(0, 5, 0, GROUP));
      assertErrno(Errno.EINVAL, () -> qp.modify(toGroup), "only datagrams");
    }
  }

  @Test
  @VerbsCase(says = "a GID that is not a multicast group is EINVAL")
  void otherAddressesThanGroupsAreRefused() {
    try (RcPair pair = datagrams().open()) {
      QueuePair qp = pair.left.qp;
      Gid own = pair.left.context.queryGid(1, 0);
      assertErrno(Errno.EINVAL, () -> qp.attachMulticast(own), "not that of a multicast group");
      Gid before = Gid.ofIpv4(0xdfff_ffff);
      Gid behind = Gid.ofIpv4(0xf000_0000);
      assertErrno(Errno.EINVAL, () -> qp.attachMulticast(before), "not that of a multicast group");
      assertErrno(Errno.EINVAL, () -> qp.attachMulticast(behind), "not that of a multicast group");
    }
  }

  @Test
  @VerbsCase(says = "beyond max_mcast_grp and max_mcast_qp_attach: ENOMEM")
  void limitsAreThoseOfTheAttributes() {
    RcSetup setup = datagrams().depth(1).bufferSize(4096).unconnected();
    try (RcPair pair = setup.open()) {
      DeviceAttributes device = pair.left.context.queryDevice();
      assertThat(device.support(DeviceFeature.MULTICAST)).isEqualTo(FeatureSupport.NATIVE);
      int most = device.maxMulticastAttach();
      int groups = device.maxMulticastGroups();
      assertThat(most).isEqualTo(56);
      assertThat(groups).isEqualTo(1024);
      assertThat(device.maxTotalMulticastAttach()).isEqualTo(most * groups);
      List<Side> members = new ArrayList<>();
      for (int i = 0; i < most; i++) {
        Side side = new Side(pair.fabric, pair.fabric.left(), setup);
        side.qp.attachMulticast(GROUP);
        members.add(side);
      }
      QueuePair qp = pair.left.qp;
      assertErrno(Errno.ENOMEM, () -> qp.attachMulticast(GROUP), "max_mcast_qp_attach");
      for (int i = 1; i < groups; i++) {
        qp.attachMulticast(Gid.ofIpv4(0xe100_0000 + i));
      }
      assertErrno(Errno.ENOMEM, () -> qp.attachMulticast(OTHER), "multicast groups");
      for (int i = 1; i < groups; i++) {
        qp.detachMulticast(Gid.ofIpv4(0xe100_0000 + i));
      }
      for (Side side : members) {
        side.qp.detachMulticast(GROUP);
        side.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"&as=s", "&as=s&events=poll"})
  void cardOfTheDocumentHasNoGroups(String parameters) {
    try (RcPair pair = datagrams().on(Fabric.inline(parameters))) {
      assertNoGroups(pair.left);
    }
  }

  private static void assertNoGroups(Side side) {
    DeviceAttributes device = side.context.queryDevice();
    assertThat(device.support(DeviceFeature.MULTICAST)).isEqualTo(FeatureSupport.MISSING);
    assertThat(device.maxMulticastGroups()).isZero();
    assertThat(device.maxMulticastAttach()).isZero();
    assertThat(device.maxTotalMulticastAttach()).isZero();
    assertErrno(Errno.EOPNOTSUPP, () -> side.qp.attachMulticast(GROUP), "only a software HCA");
    assertErrno(Errno.EOPNOTSUPP, () -> side.qp.detachMulticast(GROUP), "only a software HCA");
    AddressVector to = AddressVector.to(GROUP, ipv4Index(side.context));
    assertErrno(Errno.EOPNOTSUPP, () -> side.pd.createAddressHandle(to), "only a software HCA");
  }

  @ParameterizedTest(name = "virtual time {0}")
  @ValueSource(booleans = {true, false})
  void hubFloodsAndMembersAccept(boolean virtualTime) {
    try (Fabric fabric = Fabric.onHub(virtualTime);
        Context context = RdmaDevices.open(fabric.locatorOfThird());
        Side a = new Side(fabric, fabric.left(), datagrams());
        Side b = new Side(fabric, fabric.right(), datagrams());
        Side c = new Side(fabric, context, datagrams())) {
      activate(a, b, c);
      b.qp.attachMulticast(GROUP);
      c.qp.attachMulticast(GROUP);
      post(a, b, c);
      send(a, GROUP, QKEY);
      assertReceived(b, a, GROUP);
      assertReceived(c, a, GROUP);
      a.assertQuiet();
      c.qp.detachMulticast(GROUP);
      post(b, c);
      send(a, GROUP, QKEY);
      assertReceived(b, a, GROUP);
      c.assertQuiet();
      b.qp.detachMulticast(GROUP);
    }
  }

  @Test
  void kernelCarriesItBetweenLinks() throws IOException {
    TestProfile.requireModel();
    Fabric fabric =
        Fabric.on("model:mc-left?net=udp:127.0.6.13", "model:mc-right?net=udp:127.0.6.14");
    try (RcPair pair = datagrams().on(fabric)) {
      Side left = pair.left;
      Side right = pair.right;
      left.qp.attachMulticast(GROUP);
      right.qp.attachMulticast(GROUP);
      // The kernel's own list, where an address is a number of this machine.
      assertThat(Files.readString(Path.of("/proc/net/igmp"))).contains("030201EF");
      for (int i = 0; i < 20; i++) {
        post(left, right);
        send(left, GROUP, QKEY);
        assertReceived(right, left, GROUP);
        assertReceived(left, left, GROUP);
      }
      post(left, right);
      send(right, GROUP, QKEY);
      assertReceived(left, right, GROUP);
      assertReceived(right, right, GROUP);
      left.assertQuiet();
      right.assertQuiet();
      left.qp.detachMulticast(GROUP);
      right.qp.detachMulticast(GROUP);
      assertThat(Files.readString(Path.of("/proc/net/igmp"))).doesNotContain("030201EF");
    }
  }

  @Test
  void framesOverAStreamCarryIt(@TempDir Path directory) {
    TestProfile.requireModel();
    String place = directory.resolve("net").toString();
    assumeThat(place).hasSizeLessThan(100);
    Fabric fabric =
        Fabric.on(
            "model:mc-server?net=stream:listen:" + place, "model:mc-client?net=stream:" + place);
    try (RcPair pair = datagrams().on(fabric)) {
      fabric.await(
          () -> pair.left.context.queryPort(1).state() == PortState.ACTIVE,
          () -> "the listening side has not accepted its peer");
      pair.right.qp.attachMulticast(GROUP);
      post(pair.right);
      send(pair.left, GROUP, QKEY);
      assertReceived(pair.right, pair.left, GROUP);
      pair.right.qp.detachMulticast(GROUP);
    }
  }
}

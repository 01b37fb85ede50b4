package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams: to any queue pair, with a header of 40 bytes, and without acknowledgement. */
class UdTest {
  private static final int QKEY = Side.QKEY;

  private static final int HEADER = GlobalRouteHeader.LENGTH;
  private static final int RECEIVE = 1 << 15;

  private final RcPair pair =
      new RcSetup().type(QpType.UD).sges(3).inline(64).bufferSize(1 << 16).open();
  private final Side left = pair.left;
  private final Side right = pair.right;
  private final SplittableRandom random = new SplittableRandom(5);
  private final AddressHandle toRight = left.way;

  @AfterEach
  void close() {
    pair.close();
  }

  /** An address handle from one side to another, by a GID of the same index on both. */
  private static AddressHandle handle(Side from, Side to, int gidIndex) {
    Gid gid = to.context.queryGid(1, gidIndex);
    from.context.addNeighbor(gid, to.context.queryGid(1, 0).mac().orElseThrow());
    return from.pd.createAddressHandle(AddressVector.to(gid, gidIndex));
  }

  private SendRequest send() {
    return left.send.wrId(1).send().to(toRight, right.qp.number(), QKEY).signaled();
  }

  /** Waits for the receive completion of a side. */
  private Completions received(Side side) {
    Completions completions = new Completions(1);
    pair.fabric.await(
        () -> side.receiveQueue.poll(completions) == 1, () -> "no datagram has arrived");
    return completions;
  }

  private static void assertReceived(Completions found, Side by, long bytes, QueuePair from) {
    assertThat(found.status(0)).isEqualTo(WcStatus.SUCCESS);
    assertThat(found.opcode(0)).isEqualTo(WcOpcode.RECV);
    assertThat(found.byteLength(0)).isEqualTo(HEADER + bytes);
    assertThat(found.flags(0) & Completions.GRH)
        .isEqualTo(TestProfile.pick(Feature.GRH, Completions.GRH, 0));
    assertThat(found.qpNumber(0)).isEqualTo(by.qp.number());
    assertThat(found.sourceQp(0)).isEqualTo(from.number());
  }

  private void assertSent(WcStatus status) {
    Wc sent = left.sent();
    assertThat(sent.status()).isEqualTo(status);
    assertThat(sent.wrId()).isEqualTo(1);
    assertThat(sent.opcode()).isEqualTo(WcOpcode.SEND);
  }

  /** Checks data behind the header of a receive at an offset. */
  private void assertData(long offset, long length) {
    MemorySegment found = right.memory().asSlice(offset + HEADER, length);
    assertThat(found.mismatch(left.memory().asSlice(0, length))).isEqualTo(-1);
  }

  /** One datagram arrives: the earlier failure has no lasting effect. */
  private void assertWorks() {
    left.randomize(0, 64, random);
    right.postReceive(9, RECEIVE, 200);
    left.qp.postSend(send().sge(left.buffer, 0, 64));
    assertSent(WcStatus.SUCCESS);
    Completions found = received(right);
    assertThat(found.wrId(0)).isEqualTo(9);
    assertReceived(found, right, 64, left.qp);
    assertData(RECEIVE, 64);
    right.expectAnything(RECEIVE, 200);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 39, 40, 41, 255, 1023, 1024})
  void datagramArrivesBehindItsHeader(int length) {
    left.randomize(0, length, random);
    right.postReceive(2, RECEIVE, HEADER + length);
    left.qp.postSend(send().sge(left.buffer, 0, length));
    assertSent(WcStatus.SUCCESS);
    Completions found = received(right);
    assertThat(found.wrId(0)).isEqualTo(2);
    assertThat(found.hasImmediate(0)).isFalse();
    assertReceived(found, right, length, left.qp);
    assertData(RECEIVE, length);
    right.expectAnything(RECEIVE, HEADER + length);
    right.verify("outside the receive");
    left.verify("the sender");
  }

  @Test
  void datagramOfThePortMtuArrives() {
    int mtu = left.context.queryPort(1).activeMtu().bytes();
    left.randomize(0, mtu, random);
    // The data starts at a multiple of 32: it extends into the next page.
    int at = RECEIVE + 24;
    right.postReceive(2, at, HEADER + mtu);
    left.qp.postSend(send().sge(left.buffer, 0, mtu));
    assertReceived(received(right), right, mtu, left.qp);
    assertSent(WcStatus.SUCCESS);
    assertData(at, mtu);
  }

  @Test
  @Needs(Feature.INLINE_DATAGRAMS)
  void inlineDataIsReusableAtOnce() {
    byte[] data = new byte[33];
    random.nextBytes(data);
    MemorySegment source = MemorySegment.ofArray(data.clone());
    right.postReceive(2, RECEIVE, HEADER + data.length);
    left.qp.postSend(send().inline(source));
    source.fill((byte) 0);
    assertSent(WcStatus.SUCCESS);
    assertReceived(received(right), right, data.length, left.qp);
    assertThat(right.memory().asSlice(RECEIVE + HEADER, data.length).toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(data);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  @Needs(Feature.GRH)
  void headerNamesBothSides(int gidIndex) {
    try (AddressHandle handle = handle(left, right, gidIndex)) {
      right.postReceive(2, RECEIVE, 100);
      left.qp.postSend(left.send.wrId(1).send().to(handle, right.qp.number(), QKEY).signaled());
      assertSent(WcStatus.SUCCESS);
      received(right);
      GlobalRouteHeader header = GlobalRouteHeader.of(right.memory().asSlice(RECEIVE, HEADER));
      assertThat(header.sourceGid()).isEqualTo(left.context.queryGid(1, gidIndex));
      assertThat(header.destinationGid()).isEqualTo(right.context.queryGid(1, gidIndex));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  @Needs(Feature.GRH)
  @VerbsCase(says = "UD: an AH created from a completion and its GRH reaches the sender")
  void headerHasTheReturnAddress(int gidIndex) {
    Gid own = left.context.queryGid(1, gidIndex);
    right.context.addNeighbor(own, left.context.queryGid(1, 0).mac().orElseThrow());
    left.randomize(0, 50, random);
    right.postReceive(2, RECEIVE, 100);
    left.postReceive(3, RECEIVE, 100);
    try (AddressHandle handle = handle(left, right, gidIndex)) {
      left.qp.postSend(
          left.send.wrId(1).send().to(handle, right.qp.number(), QKEY).sge(left.buffer, 0, 50));
      Completions found = received(right);
      try (AddressHandle back =
          right.pd.createAddressHandle(found, 0, right.memory().asSlice(RECEIVE, HEADER), 1)) {
        assertThat(back.vector().destination()).isEqualTo(own);
        assertThat(back.vector().sourceGidIndex()).isEqualTo(gidIndex);
        right.qp.postSend(
            right
                .send
                .send()
                .to(back, found.sourceQp(0), QKEY)
                .sge(right.buffer, RECEIVE + HEADER, 50));
        assertReceived(received(left), left, 50, right.qp);
      }
    }
    MemorySegment echo = left.memory().asSlice(RECEIVE + HEADER, 50);
    assertThat(echo.mismatch(left.memory().asSlice(0, 50))).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 13, 20, 39, 40, 41, 60})
  @Needs(Feature.GRH)
  void headerIsScatteredLikeData(int first) {
    left.randomize(0, 60, random);
    right.qp.postReceive(
        right
            .receive
            .wrId(2)
            .into(right.buffer, RECEIVE, first)
            .sge(right.buffer, RECEIVE + 1000, 5)
            .sge(right.buffer, RECEIVE + 2000, 100));
    left.qp.postSend(send().sge(left.buffer, 0, 60));
    assertReceived(received(right), right, 60, left.qp);
    byte[] all = new byte[HEADER + 60];
    int rest = all.length - first - 5;
    copy(right.memory(), RECEIVE, all, 0, first);
    copy(right.memory(), RECEIVE + 1000, all, first, 5);
    copy(right.memory(), RECEIVE + 2000, all, first + 5, rest);
    MemorySegment message = MemorySegment.ofArray(all);
    assertThat(GlobalRouteHeader.of(message).sourceGid()).isEqualTo(left.context.queryGid(1, 0));
    assertThat(message.asSlice(HEADER).mismatch(left.memory().asSlice(0, 60))).isEqualTo(-1);
    right.expectAnything(RECEIVE, first);
    right.expectAnything(RECEIVE + 1000, 5);
    right.expectAnything(RECEIVE + 2000, rest);
    right.verify("outside the elements");
  }

  @Test
  void sixteenElementsOnBothSidesArrive() {
    int length = 16 * 9;
    try (RcPair wide = new RcSetup().type(QpType.UD).sges(16).open()) {
      wide.left.randomize(0, 16 * 100, random);
      wide.left.send.send().to(wide.left.way, wide.right.qp.number(), QKEY).signaled();
      wide.right.receive.into(wide.right.buffer, RECEIVE, HEADER);
      byte[] sent = new byte[length];
      for (int i = 0; i < 16; i++) {
        wide.left.send.sge(wide.left.buffer, 100L * i, 9);
        copy(wide.left.memory(), 100L * i, sent, 9 * i, 9);
      }
      for (int i = 1; i < 16; i++) {
        wide.right.receive.sge(wide.right.buffer, RECEIVE + 100 * i, 10);
      }
      wide.right.qp.postReceive(wide.right.receive);
      wide.left.qp.postSend(wide.left.send);
      Side.assertSuccess(wide.left.sent());
      Wc found = wide.right.received();
      Side.assertSuccess(found);
      assertThat(found.bytes()).isEqualTo(HEADER + length);
      byte[] arrived = new byte[length];
      for (int i = 1; 10 * (i - 1) < length; i++) {
        int at = 10 * (i - 1);
        copy(wide.right.memory(), RECEIVE + 100 * i, arrived, at, Math.min(10, length - at));
      }
      assertThat(arrived).isEqualTo(sent);
    }
  }

  @Test
  @Needs(Feature.PSN_WRAP)
  void psnWraps() {
    try (RcPair late = new RcSetup().type(QpType.UD).psns(0xfffffe, 0xfffffe).open()) {
      for (int i = 0; i < 5; i++) {
        late.right.postReceive(i, 0, 100);
        late.left.qp.postSend(
            late.left.send.send().to(late.left.way, late.right.qp.number(), QKEY).signaled());
        Side.assertSuccess(late.left.sent());
        assertThat(late.right.received().wrId()).isEqualTo(i);
      }
    }
  }

  @Test
  @Needs(Feature.SOLICITED_ONLY)
  void solicitedDatagramRaisesAnEvent() throws InterruptedException {
    try (RcPair told = new RcSetup().type(QpType.UD).channel().open()) {
      told.right.receiveQueue.requestNotify(true);
      for (int i = 0; i < 2; i++) {
        told.right.postReceive(i, 0, 100);
        told.left.send.send().to(told.left.way, told.right.qp.number(), QKEY).signaled();
        told.left.qp.postSend(i == 0 ? told.left.send : told.left.send.solicited());
        Side.assertSuccess(told.left.sent());
        if (i == 0) {
          assertThat(told.right.channel.await(TestTime.millis(20))).isEmpty();
        }
      }
      assertThat(told.right.channel.await(TestTime.seconds(20)))
          .containsSame(told.right.receiveQueue);
      assertThat(told.right.received(2)).hasSize(2);
    }
  }

  private static void copy(MemorySegment from, long offset, byte[] to, int at, int length) {
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, to, at, length);
  }

  @Test
  @Needs(Feature.MANY_PEERS)
  void severalPeersExchangeDatagramsBothWays() {
    try (QueuePair second =
        left.pd.createQueuePair(
            QueuePairConfig.ud(left.sendQueue, left.receiveQueue).sendDepth(4).receiveDepth(4))) {
      second.activate(QKEY);
      for (int i = 0; i < 3; i++) {
        right.postReceive(i, RECEIVE + 100L * i, 100);
      }
      List<QueuePair> from = List.of(second, left.qp, second);
      for (QueuePair qp : from) {
        qp.postSend(send().sge(left.buffer, 0, 8));
        assertSent(WcStatus.SUCCESS);
      }
      for (QueuePair qp : from) {
        assertReceived(received(right), right, 8, qp);
      }
      // One queue pair to two, on a device that is its own peer too.
      second.postReceive(left.receive.wrId(7).into(left.buffer, RECEIVE, 100));
      right.postReceive(8, RECEIVE, 100);
      try (AddressHandle toSelf = handle(left, left, 0)) {
        left.qp.postSend(left.send.wrId(1).send().to(toSelf, second.number(), QKEY).signaled());
        left.qp.postSend(send());
        Completions here = received(left);
        assertThat(here.qpNumber(0)).isEqualTo(second.number());
        assertThat(here.wrId(0)).isEqualTo(7);
        assertThat(here.sourceQp(0)).isEqualTo(left.qp.number());
        assertThat(received(right).wrId(0)).isEqualTo(8);
        assertThat(left.sent(2)).allMatch(wc -> wc.status() == WcStatus.SUCCESS);
      }
    }
  }

  @Test
  @Needs(Feature.QKEY_CHECK)
  @VerbsCase(says = "UD: a wrong Q_Key is dropped, SUCCESS at the sender, the receive stays posted")
  void wrongQkeyIsDropped() {
    right.postReceive(2, RECEIVE, 200);
    left.qp.postSend(left.send.wrId(1).send().to(toRight, right.qp.number(), QKEY + 1).signaled());
    assertSent(WcStatus.SUCCESS);
    right.assertQuiet();
    left.qp.postSend(send());
    assertThat(received(right).wrId(0)).isEqualTo(2);
    assertSent(WcStatus.SUCCESS);
  }

  @Test
  void highBitOfTheQkeySelectsTheSendersOwnQkey() {
    right.postReceive(2, RECEIVE, 200);
    left.qp.postSend(
        left.send
            .wrId(1)
            .send()
            .to(toRight, right.qp.number(), 0x8000_0005)
            .sge(left.buffer, 0, 1)
            .signaled());
    assertSent(WcStatus.SUCCESS);
    assertReceived(received(right), right, 1, left.qp);
  }

  @Test
  @Needs(Feature.QKEY_CHECK)
  void qkeyMayBeChangedInRts() {
    right.qp.modify(QpAttributes.to(QpState.RTS).qkey(77));
    assertThat(right.qp.query().qkey()).isEqualTo(77);
    right.postReceive(2, RECEIVE, 200);
    left.qp.postSend(send());
    assertSent(WcStatus.SUCCESS);
    right.assertQuiet();
    left.qp.postSend(left.send.wrId(1).send().to(toRight, right.qp.number(), 77).signaled());
    assertThat(received(right).wrId(0)).isEqualTo(2);
    assertSent(WcStatus.SUCCESS);
  }

  @Test
  @Needs(Feature.RNR_RETRY)
  @VerbsCase(says = "UD: a datagram for which no receive is posted is lost, SUCCESS at the sender")
  void datagramWithoutAReceiveIsLost() {
    left.qp.postSend(send());
    assertSent(WcStatus.SUCCESS);
    awaitArrival();
    assertThat(right.qp.query().state()).isEqualTo(QpState.RTS);
    assertWorks();
  }

  /** Waits until all that was sent so far has arrived: a datagram that is sent behind it has. */
  private void awaitArrival() {
    try (QueuePair behind =
        right.pd.createQueuePair(
            QueuePairConfig.ud(right.sendQueue, right.receiveQueue).sendDepth(1).receiveDepth(1))) {
      behind.activate(QKEY);
      behind.postReceive(right.receive.wrId(6).into(right.buffer, RECEIVE, 100));
      left.qp.postSend(left.send.wrId(1).send().to(toRight, behind.number(), QKEY).signaled());
      assertSent(WcStatus.SUCCESS);
      assertThat(received(right).qpNumber(0)).isEqualTo(behind.number());
      right.expectAnything(RECEIVE, 100);
    }
  }

  @Test
  @Needs(Feature.MANY_PEERS)
  void datagramToAnUnknownQueuePairIsLost() {
    left.qp.postSend(left.send.wrId(1).send().to(toRight, 0x7ffff, QKEY).signaled());
    assertSent(WcStatus.SUCCESS);
    assertWorks();
  }

  @Test
  @Needs(Feature.RECEIVE_ERRORS)
  void datagramTooLongForItsReceiveIsAnErrorOfTheReceiver() {
    right.postReceive(2, RECEIVE, HEADER + 7);
    right.postReceive(3, RECEIVE, 200);
    left.qp.postSend(send().sge(left.buffer, 0, 8));
    assertSent(WcStatus.SUCCESS);
    List<Wc> found = right.received(2);
    assertThat(found).extracting(Wc::wrId).containsExactly(2L, 3L);
    assertThat(found)
        .extracting(Wc::status)
        .containsExactly(WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR);
    assertThat(right.qp.state()).isEqualTo(QpState.ERR);
    assertThat(right.qp.query().state()).isEqualTo(QpState.ERR);
    assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
  }

  @Test
  @Needs(Feature.SQE)
  void datagramBeyondThePortMtuPutsTheSendQueueInSqe() {
    int mtu = left.context.queryPort(1).activeMtu().bytes();
    right.postReceive(2, RECEIVE, HEADER + mtu);
    left.qp.postSend(send().sge(left.buffer, 0, mtu + 1L));
    assertSent(WcStatus.LOC_LEN_ERR);
    assertThat(left.qp.state()).isEqualTo(QpState.SQE);
    assertThat(left.qp.query().state()).isEqualTo(QpState.SQE);
    right.assertQuiet();
    left.qp.modify(QpAttributes.to(QpState.RTS).currentState(QpState.SQE));
    left.qp.postSend(send());
    assertSent(WcStatus.SUCCESS);
    assertThat(received(right).wrId(0)).isEqualTo(2);
    assertWorks();
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_send",
      says = "SEND both ways; the data follows 40 bytes of GRH")
  void sends() {
    pair.traffic(WrOpcode.SEND, 1024, 100);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_send_imm",
      says = "SEND with immediate: IBV_WC_WITH_IMM and the peer's 32 bits")
  @Needs(Feature.SEND_WITH_IMMEDIATE)
  void sendsWithImmediate() {
    pair.traffic(WrOpcode.SEND_WITH_IMM, 1024, 100);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_zero_size",
      says = "empty SEND: 40 bytes are received")
  @Needs(Feature.ZERO_LENGTH)
  void emptySends() {
    pair.traffic(WrOpcode.SEND, 0, 100);
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_relaxed_ordering.RoTestCase.test_ro_ud_traffic",
      says = "RELAXED_ORDERING is accepted, and the traffic is as without it")
  void trafficWithRelaxedOrdering() {
    RcSetup relaxed = new RcSetup().type(QpType.UD);
    relaxed.bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
    try (RcPair ordered = relaxed.open()) {
      ordered.traffic(WrOpcode.SEND, 1024, 100);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_cqex.CqExTestCase.test_ud_traffic_cq_ex",
      says = "100 completions in batches: each once, with GRH flag and source QPN")
  void batchesReturnEachDatagramOnce() {
    try (RcPair many = new RcSetup().type(QpType.UD).depth(100).open()) {
      for (int i = 0; i < 100; i++) {
        many.right.postReceive(i, 0, HEADER + 8);
        SendRequest send = many.left.send.wrId(1000 + i).send().sge(many.left.buffer, 0, 8);
        many.left.qp.postSend(send.to(many.left.way, many.right.qp.number(), QKEY).signaled());
      }
      // Polling lets a device continue that has room for only a few doorbells.
      List<Wc> sent = many.left.sent(100);
      many.fabric.settle(); // so that batches are large
      Completions completions = new Completions(100);
      int[] found = {0};
      for (int seen = 0; seen < 100; seen += found[0]) {
        many.fabric.await(
            () -> (found[0] = many.right.receiveQueue.poll(completions)) > 0,
            () -> "a datagram is missing");
        for (int i = 0; i < found[0]; i++) {
          assertThat(completions.isSuccess(i)).isTrue();
          assertThat(completions.wrId(i)).isEqualTo(seen + i);
          assertThat(completions.flags(i))
              .isEqualTo(TestProfile.pick(Feature.GRH, Completions.GRH, 0));
          assertThat(completions.sourceQp(i)).isEqualTo(many.left.qp.number());
          assertThat(completions.byteLength(i)).isEqualTo(HEADER + 8);
        }
      }
      many.right.assertQuiet();
      assertThat(sent)
          .extracting(Wc::wrId)
          .containsExactlyElementsOf(LongStream.range(1000, 1100).boxed().toList());
    }
  }

  @Test
  @VerbsCase(says = "UD: RDMA and atomics are refused at the post, EOPNOTSUPP")
  void rdmaOnDatagramsIsRefused() {
    for (SendRequest wrong :
        List.of(
            new SendRequest().rdmaWrite(right.address(0), right.buffer.rkey()),
            new SendRequest().rdmaRead(right.address(0), right.buffer.rkey()),
            new SendRequest().fetchAndAdd(right.address(0), right.buffer.rkey(), 1))) {
      wrong.sge(left.buffer, HEADER, 8).to(toRight, right.qp.number(), QKEY);
      assertBadRequest(Errno.EOPNOTSUPP, 0, () -> left.qp.postSend(wrong));
    }
  }
}

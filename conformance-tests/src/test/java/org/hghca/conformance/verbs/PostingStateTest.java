package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The result of requests in each state (table A1-1), and of a queue pair that is used again. */
@Tag("rc")
class PostingStateTest {

  private static SendRequest anySend(RcPair pair) {
    return pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled();
  }

  private static void assertRefused(ThrowingCallable post, String... words) {
    assertBadRequest(Errno.EINVAL, 0, post, words);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESET", "INIT", "RTR"})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_post_send_qp_state_bad_flow",
      says = "post_send in RESET, INIT and RTR is EINVAL")
  void sendsAreRefusedBeforeRts(QpState state) {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, state);
      SendRequest send = anySend(pair);
      assertRefused(() -> pair.left.qp.postSend(send), state.name(), "send");
      assertRefused(() -> pair.left.qp.tryPostSend(send), state.name());
      assertRefused(() -> pair.left.qp.postSend(new SendRequest[] {send, send}), state.name());
      pair.left.assertQuiet();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_post_receive_qp_state_bad_flow",
      says = "post_recv in RESET is EINVAL")
  void receivesAreRefusedInReset() {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      assertRefused(() -> pair.left.postReceive(1, 0, 8), "RESET", "receive");
      pair.left.receive.into(pair.left.buffer, 0, 8);
      assertRefused(() -> pair.left.qp.tryPostReceive(pair.left.receive), "RESET");
      assertRefused(
          () ->
              pair.left.qp.postReceive(new ReceiveRequest[] {pair.left.receive, pair.left.receive}),
          "RESET");
    }
  }

  @Test
  void receivesPostedInAnyStateFromInitOnAreUsedInOrder() {
    SplittableRandom random = new SplittableRandom(31);
    try (RcPair pair = new RcSetup().unconnected().open()) {
      Side left = pair.left;
      Side right = pair.right;
      QpFixtures.bring(left.qp, right.qp, QpState.RTS);
      right.qp.modify(pair.setup().connection().toInit(right.qp.type()));
      right.postReceive(1, 0, 8);
      right.qp.modify(
          pair.setup().connection().toRtr(right.qp.type(), RcPair.endpoint(left.qp, 0)));
      right.postReceive(2, 8, 8);
      // RTR takes the peer's messages already.
      left.randomize(0, 8, random);
      left.qp.postSend(anySend(pair));
      Side.assertSuccess(left.sent());
      assertThat(right.received().wrId()).isEqualTo(1);
      right.expect(0, left, 0, 8);
      right.qp.modify(pair.setup().connection().toRts(right.qp.type(), 0));
      left.randomize(0, 8, random);
      left.qp.postSend(anySend(pair));
      Side.assertSuccess(left.sent());
      assertThat(right.received().wrId()).isEqualTo(2);
      right.expect(8, left, 0, 8);
      right.verify("receives posted in INIT and RTR");
    }
  }

  @Test
  @Needs(Feature.SAFE_INIT)
  void messagesToAQueuePairInResetOrInitAreDropped() {
    try (RcPair pair = new RcSetup().unconnected().retries(12, 7, 8, 7).open()) {
      RcSetup setup = pair.setup();
      RcPair.connectReceiver(setup, pair.left.qp, pair.right.qp, 0);
      pair.left.qp.modify(setup.connection().toRts(pair.left.qp.type(), 0));
      pair.right.qp.modify(setup.connection().toInit(pair.right.qp.type()));
      pair.right.postReceive(1, 0, 8);
      pair.left.qp.postSend(anySend(pair));
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      pair.right.assertQuiet();
      pair.right.verify("nothing");
    }
  }

  @Test
  @VerbsCase(says = "ERR flushes all sends and receives in order, WR_FLUSH_ERR")
  void errFlushesBothQueuesInOrder() {
    // The peer posts no receive, so that sends stay outstanding: all of them, or all but the first.
    int sends = TestProfile.pick(Feature.RNR_RETRY, 5, 1);
    try (RcPair pair = new RcSetup().retries(12, 7, 14, 7).open()) {
      if (!TestProfile.has(Feature.RECONNECTION)) {
        pair.fabric.mayRetire();
      }
      for (int i = 0; i < 5; i++) {
        SendRequest send = pair.left.send.wrId(i).send().sge(pair.left.buffer, 0, 8);
        if (i < sends) {
          pair.left.qp.postSend(i % 2 == 0 ? send : send.signaled());
        }
        pair.left.postReceive(100 + i, 0, 8);
      }
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      assertFlushed(pair.left.sent(sends), 0, sends, pair.left.qp.number());
      assertFlushed(pair.left.received(5), 100, 5, pair.left.qp.number());
      pair.left.assertQuiet();
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  @VerbsCase(says = "requests posted in ERR are flushed, WR_FLUSH_ERR")
  void requestsPostedInErrAreFlushed() {
    try (RcPair pair = RcPair.open()) {
      pair.left.postReceive(1, 0, 8);
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.postReceive(2, 0, 8);
      pair.left.postReceive(3, 0, 8);
      pair.left.qp.postSend(anySend(pair).wrId(10));
      SendRequest another = new SendRequest().wrId(11).send().sge(pair.left.buffer, 0, 8);
      SendRequest third = new SendRequest().wrId(12).send().sge(pair.left.buffer, 0, 8);
      pair.left.qp.postSend(new SendRequest[] {another, third});
      assertFlushed(pair.left.sent(3), 10, 3, pair.left.qp.number());
      assertFlushed(pair.left.received(3), 1, 3, pair.left.qp.number());
      pair.left.assertQuiet();
    }
  }

  @Test
  @Needs(Feature.RECEIVE_ERRORS)
  void receivesPostedBeforeTheErrorIsPolledAreFlushed() {
    try (RcPair pair = RcPair.open()) {
      pair.right.postReceive(1, 0, 4);
      pair.right.postReceive(2, 0, 8);
      pair.left.qp.postSend(anySend(pair));
      pair.fabric.settle();
      // The first receive is too small: the queue pair is in ERR, which is not detected yet.
      pair.right.postReceive(3, 0, 8);
      pair.right.postReceive(4, 0, 8);
      List<Wc> found = pair.right.received(4);
      assertThat(found).extracting(Wc::wrId).containsExactly(1L, 2L, 3L, 4L);
      assertThat(found.getFirst().status()).isEqualTo(WcStatus.LOC_LEN_ERR);
      assertFlushed(found.subList(1, 4), 2, 3, pair.right.qp.number());
      pair.right.assertQuiet();
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void receivesPostedAfterAnUnreportedErrorAreFlushedByAQuery() {
    try (RcPair pair = RcPair.open()) {
      pair.left.qp.postSend(
          pair.left.send.rdmaWrite(pair.right.address(0), 0x7fff_fff0).sge(pair.left.buffer, 0, 8));
      assertThat(pair.left.sent().status()).isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
      pair.right.postReceive(3, 0, 8);
      assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
      pair.right.postReceive(4, 0, 8);
      assertFlushed(pair.right.received(2), 3, 2, pair.right.qp.number());
    }
  }

  @Test
  void queueInErrIsFullAtItsDepth() {
    try (RcPair pair = new RcSetup().depth(3).open()) {
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.receive.wrId(5).into(pair.left.buffer, 0, 8);
      for (int i = 0; i < 3; i++) {
        assertThat(pair.left.qp.tryPostReceive(pair.left.receive)).isTrue();
      }
      assertThat(pair.left.qp.tryPostReceive(pair.left.receive)).isFalse();
      pair.left.received(3);
      assertThat(pair.left.qp.tryPostReceive(pair.left.receive)).isTrue();
      pair.left.received(1);
    }
  }

  private static void assertFlushed(List<Wc> found, long firstWrId, int count, int qpn) {
    assertThat(found)
        .allSatisfy(
            completion -> {
              assertThat(completion.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
              assertThat(completion.qpNumber()).isEqualTo(qpn);
            })
        .extracting(Wc::wrId)
        .containsExactlyElementsOf(LongStream.range(firstWrId, firstWrId + count).boxed().toList());
  }

  @Test
  @Needs(Feature.RECONNECTION)
  void resetDiscardsOutstandingRequestsAndTheQueuePairWorksAgain() {
    boolean waits = TestProfile.has(Feature.RNR_RETRY);
    try (RcPair pair = new RcSetup().depth(8).retries(12, 7, 14, 7).open()) {
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < round % 8; i++) {
          if (waits) {
            pair.left.qp.postSend(anySend(pair).wrId(1000 + i));
          }
          pair.left.postReceive(2000 + i, 0, 8);
        }
        if (round % 3 == 0) {
          pair.left.qp.modify(QpAttributes.to(QpState.ERR));
        }
        pair.left.qp.modify(QpAttributes.to(QpState.RESET));
        pair.right.qp.modify(QpAttributes.to(QpState.RESET));
        pair.left.assertQuiet();
        pair.right.assertQuiet();
        int last = TestProfile.pick(Feature.PSN_WRAP, 0xffffff, 0xffff);
        pair.connect(round * 77_777 & last, last - round);
        Transfer transfer = new Transfer(pair.left, pair.right, round);
        for (WrOpcode opcode : Transfer.possible(MessageSizeTest.OPCODES)) {
          transfer.run(opcode, Pieces.one(16, 3000), Pieces.one(17, 3000));
        }
      }
    }
  }

  @Test
  @Needs(Feature.RECONNECTION)
  void completionsFromBeforeAResetAreDiscarded() {
    try (RcPair pair = new RcSetup().depth(8).open()) {
      for (int i = 0; i < 4; i++) {
        pair.right.postReceive(i, 0, 8);
        pair.left.qp.postSend(anySend(pair).wrId(i));
      }
      pair.fabric.settle();
      pair.left.qp.modify(QpAttributes.to(QpState.RESET));
      pair.right.qp.modify(QpAttributes.to(QpState.RESET));
      pair.left.assertQuiet();
      pair.right.assertQuiet();
    }
  }
}

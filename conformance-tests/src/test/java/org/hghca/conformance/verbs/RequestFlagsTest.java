package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.Errno;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Signaled and unsignaled, inline, fenced and solicited requests. */
@Tag("rc")
class RequestFlagsTest {
  private final SplittableRandom random = new SplittableRandom(11);

  @ParameterizedTest
  @EnumSource(names = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE", "RDMA_WRITE_WITH_IMM"})
  void inlineDataOfEveryLengthUpToTheDeviceLimitArrives(WrOpcode opcode) {
    int most;
    try (Fabric fabric = Fabric.open()) {
      most = fabric.left().queryDevice().maxInline();
    }
    assertThat(most).isGreaterThanOrEqualTo(64);
    try (RcPair pair = new RcSetup().sges(3).inline(most).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 12);
      for (int size = Sizes.least(); size <= most; size++) {
        transfer.run(
            opcode,
            Pieces.random(7, size, 1 + size % 3, random),
            Pieces.one(1 + size, size),
            SendRequest::inline);
      }
    }
  }

  @Test
  @VerbsCase(says = "the memory of an inline request is reusable when the post returns")
  void inlineMemoryIsReusableWhenThePostReturns() {
    try (RcPair pair = new RcSetup().inline(64).on(Fabric.threaded());
        Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom("not registered");
      pair.right.postReceive(1, 0, 64);
      pair.left.qp.postSend(pair.left.send.send().inline(text).signaled());
      text.fill((byte) 0xff);
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
      assertThat(pair.right.memory().getString(0)).isEqualTo("not registered");
    }
  }

  @Test
  void moreInlineDataThanTheQueuePairTakesIsRefused() {
    try (RcPair pair = new RcSetup().inline(32).open()) {
      pair.left.send.send().sge(pair.left.buffer, 0, 33).inline().signaled();
      assertBadRequest(
          Errno.EINVAL, 0, () -> pair.left.qp.postSend(pair.left.send), "33 bytes inline");
    }
  }

  @Test
  void inlineReadIsRefused() {
    try (RcPair pair = new RcSetup().inline(32).open()) {
      SendRequest request = pair.read(0).sge(pair.left.buffer, 0, 8).inline();
      assertBadRequest(Errno.EINVAL, 0, () -> pair.left.qp.postSend(request));
    }
  }

  @Test
  void onlySignaledRequestsProduceCompletions() {
    try (RcPair pair = new RcSetup().depth(8).open()) {
      for (int i = 0; i < 40; i++) {
        pair.left.randomize(i, 1, random);
        SendRequest request = pair.write(i).wrId(i).sge(pair.left.buffer, i, 1);
        pair.left.qp.postSend(i % 4 == 3 ? request.signaled() : request);
        pair.right.expect(i, pair.left, i, 1);
        if (i % 4 == 3) {
          Wc completion = pair.left.sent();
          Side.assertSuccess(completion);
          assertThat(completion.wrId()).isEqualTo(i);
        }
      }
      pair.left.assertQuiet();
      pair.right.verifyWritten("writes, one in four signaled");
    }
  }

  @Test
  void everyRequestOfASignalAllQueueProducesACompletion() {
    try (RcPair pair = new RcSetup().depth(8).signalAll().open()) {
      for (int i = 0; i < 8; i++) {
        pair.left.qp.postSend(pair.write(0).wrId(i).sge(pair.left.buffer, 0, 1));
      }
      assertThat(pair.left.sent(8))
          .extracting(Wc::wrId)
          .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void failedUnsignaledRequestProducesACompletion() {
    try (RcPair pair = RcPair.open()) {
      pair.left.qp.postSend(
          pair.left
              .send
              .wrId(5)
              .rdmaWrite(pair.right.address(0), 0x7fff_ffff)
              .sge(pair.left.buffer, 0, 1));
      assertThat(pair.left.sent().wrId()).isEqualTo(5);
    }
  }

  @Test
  @VerbsCase(says = "a fenced SEND carries the data of the RDMA READ before it")
  void fencedSendCarriesTheDataOfTheReadBeforeIt() {
    try (RcPair pair = new RcSetup().depth(64).readAtomic(4).bufferSize(1 << 18).open()) {
      Side left = pair.left;
      Side right = pair.right;
      int size = 1 << 16;
      for (int round = 0; round < 8; round++) {
        right.randomize(0, size, random);
        right.postReceive(round, 2L * size, size);
        SendRequest read = new SendRequest().rdmaRead(right.address(0), right.buffer.rkey());
        SendRequest fenced = new SendRequest().send().fence().signaled().wrId(round);
        read.sge(left.buffer, size, size);
        fenced.sge(left.buffer, size, size);
        left.qp.postSend(new SendRequest[] {read, fenced});
        Side.assertSuccess(left.sent());
        Side.assertSuccess(right.received());
        left.expect(size, right, 0, size);
        right.expect(2L * size, right, 0, size);
        left.verify("READ");
        right.verify("fenced SEND of read data");
      }
    }
  }

  @Test
  void solicitedHasNoEffectWithoutAChannel() {
    try (RcPair pair = RcPair.open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 13);
      for (WrOpcode opcode :
          Transfer.possible(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM, WrOpcode.RDMA_WRITE_WITH_IMM)) {
        transfer.run(opcode, Pieces.one(0, 5000), Pieces.one(9, 5000), SendRequest::solicited);
      }
    }
  }

  @Test
  void reusedRequestStartsEmpty() {
    try (RcPair pair = new RcSetup().sges(2).inline(64).open()) {
      SendRequest request = pair.left.send;
      request.send().sge(pair.left.buffer, 0, 1).sge(pair.left.buffer, 1, 1);
      request.signaled().fence().solicited().inline();
      request.rdmaWrite(1, 2);
      assertThat(request.sgeCount()).isZero();
      assertThat(request.isSignaled()).isFalse();
      assertThat(request.isFenced()).isFalse();
      assertThat(request.isSolicited()).isFalse();
      assertThat(request.isInline()).isFalse();
      new Transfer(pair.left, pair.right, 14)
          .run(WrOpcode.SEND, Pieces.one(0, 3), Pieces.one(0, 3));
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Unreliable connections: messages arrive complete, or are lost without an error. */
class UcTest {
  private static final int[] LENGTHS = {0, 1, 3, 255, 256, 257, 512, 1000, 4096, 9999};

  private static RcSetup setup() {
    return new RcSetup().type(QpType.UC).mtu(Mtu.MTU_256).sges(3);
  }

  static Stream<Arguments> messages() {
    return Stream.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM, WrOpcode.RDMA_WRITE_WITH_IMM)
        .flatMap(
            opcode -> Stream.of(Mtu.MTU_256, Mtu.MTU_1024).map(mtu -> Arguments.of(opcode, mtu)));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void messagesOfAllLengthsArrive(WrOpcode opcode, Mtu mtu) {
    try (RcPair pair = setup().mtu(mtu).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      for (int length : Sizes.some(LENGTHS)) {
        transfer.run(opcode, Pieces.one(17, length), Pieces.one(33, length));
      }
      SplittableRandom random = new SplittableRandom(4);
      transfer.run(opcode, Pieces.random(0, 5000, 3, random), Pieces.one(5, 5000));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE_WITH_IMM"})
  void everyNumberOfElementsUpToTheDeviceLimitArrives(WrOpcode opcode) {
    SplittableRandom random = new SplittableRandom(8);
    try (RcPair pair = setup().sges(16).open()) {
      assertThat(pair.left.context.queryDevice().maxSge()).isGreaterThanOrEqualTo(16);
      Transfer transfer = new Transfer(pair.left, pair.right, 9);
      for (int elements = 1; elements <= 16; elements++) {
        for (int total : new int[] {1, 255, 4097}) {
          Pieces local = Pieces.random(33, total, elements, random);
          Pieces remote =
              opcode == WrOpcode.RDMA_WRITE_WITH_IMM
                  ? Pieces.one(71, total)
                  : Pieces.random(71, total + 13, 17 - elements, random);
          transfer.run(opcode, local, remote);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("messages")
  @Needs(Feature.PSN_WRAP)
  void psnWrapsInTheMiddleOfMessages(WrOpcode opcode, Mtu mtu) {
    try (RcPair pair = setup().mtu(mtu).psns(0xfffffe, 0xfffffd).open()) {
      Transfer toRight = new Transfer(pair.left, pair.right, 10);
      Transfer toLeft = new Transfer(pair.right, pair.left, 11);
      for (int size : new int[] {0, 4 * mtu.bytes(), 4 * mtu.bytes() + 1, 1}) {
        toRight.run(opcode, Pieces.one(17, size), Pieces.one(33, size));
        toLeft.run(opcode, Pieces.one(17, size), Pieces.one(33, size));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE_WITH_IMM"})
  void inlineDataArrives(WrOpcode opcode) {
    int most = 64;
    try (RcPair pair = setup().inline(most).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 12);
      for (int size = Sizes.least(); size <= most; size++) {
        transfer.run(opcode, Pieces.one(3, size), Pieces.one(5, size), SendRequest::inline);
      }
    }
  }

  @Test
  void writesOfAllLengthsArrive() {
    try (RcPair pair = setup().open()) {
      SplittableRandom random = new SplittableRandom(6);
      for (int length : Sizes.some(LENGTHS)) {
        pair.left.randomize(0, length, random);
        write(pair, pair.right.buffer.rkey(), length);
        Wc sent = pair.left.sent();
        Side.assertSuccess(sent);
        assertThat(sent.opcode()).isEqualTo(WcOpcode.RDMA_WRITE);
        pair.fabric.awaitWritten(
            pair.right.memory().asSlice(0, length), pair.left.memory().asSlice(0, length));
        pair.right.expect(0, pair.left, 0, length);
        pair.right.verify("RDMA WRITE of %d bytes".formatted(length));
      }
      pair.right.assertQuiet();
    }
  }

  private static void write(RcPair pair, int rkey, long length) {
    pair.left.qp.postSend(
        pair.left
            .send
            .wrId(1)
            .rdmaWrite(pair.right.address(0), rkey)
            .sge(pair.left.buffer, 0, length)
            .signaled());
  }

  private static void assertWorks(RcPair pair) {
    Transfer transfer = new Transfer(pair.left, pair.right, 7);
    transfer.run(WrOpcode.SEND, Pieces.one(0, 1000), Pieces.one(0, 1000));
    transfer.run(WrOpcode.RDMA_WRITE_WITH_IMM, Pieces.one(0, 1000), Pieces.one(0, 1000));
  }

  @Test
  @Needs(Feature.RNR_RETRY)
  @VerbsCase(
      says = "UC loses messages: no receive, SUCCESS at the sender, the next message arrives")
  void messageWithoutAReceiveIsLost() {
    try (RcPair pair = setup().open()) {
      for (long length : new long[] {8, 5000}) {
        pair.left.qp.postSend(pair.left.send.wrId(1).send().sge(pair.left.buffer, 0, length));
        pair.left.qp.postSend(
            pair.left
                .send
                .wrId(2)
                .rdmaWriteWithImmediate(pair.right.address(0), pair.right.buffer.rkey(), 5)
                .signaled());
        Wc last = pair.left.sent();
        Side.assertSuccess(last);
        assertThat(last.wrId()).isEqualTo(2);
        // A write, which needs no receive, arrives behind them.
        pair.left.randomize(0, 8, new SplittableRandom(length));
        write(pair, pair.right.buffer.rkey(), 8);
        Side.assertSuccess(pair.left.sent());
        pair.fabric.awaitWritten(
            pair.right.memory().asSlice(0, 8), pair.left.memory().asSlice(0, 8));
        pair.right.expect(0, pair.left, 0, 8);
        assertThat(Wc.drain(pair.right.receiveQueue)).isEmpty();
        pair.right.verify("lost messages");
        assertThat(pair.right.qp.query().state()).isEqualTo(QpState.RTS);
        assertWorks(pair);
      }
    }
  }

  /**
   * The first RTL moves the responder's queue pair to ERR without notifying either side: all later
   * messages are lost, while the sender reports success.
   */
  @Test
  @OnlyOn(value = "r1", why = "writeWithoutPermissionIsLost shows the specified behavior")
  void writeWithoutPermissionMovesTheResponderToErrOnR1() {
    try (RcPair pair = setup().open()) {
      pair.left.randomize(0, 8, new SplittableRandom(8));
      write(pair, pair.right.buffer.rkey() ^ 1 << 24, 8);
      Side.assertSuccess(pair.left.sent());
      pair.fabric.settle();
      write(pair, pair.right.buffer.rkey(), 8);
      Side.assertSuccess(pair.left.sent());
      pair.right.assertQuiet();
      pair.right.verify("a good write behind one with a wrong key");
      assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
    }
  }

  @Test
  @OnlyOn(
      value = "s",
      why = "on R1 the responder goes to ERR, see the test above; R2 executes the write")
  void writeWithoutPermissionIsLost() {
    try (RcPair pair = setup().open()) {
      for (long length : new long[] {8, 5000}) {
        pair.left.randomize(0, length, new SplittableRandom(length));
        write(pair, pair.right.buffer.rkey() ^ 1 << 24, length);
        Side.assertSuccess(pair.left.sent());
        pair.right.assertQuiet();
        pair.right.verify("a write with a wrong key");
        assertThat(pair.right.qp.query().state()).isEqualTo(QpState.RTS);
        assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
        assertWorks(pair);
      }
    }
    TestProfile.require(Feature.QUEUE_PAIR_ACCESS);
    try (RcPair pair = setup().qpAccess(AccessFlag.LOCAL_WRITE).open()) {
      write(pair, pair.right.buffer.rkey(), 8);
      Side.assertSuccess(pair.left.sent());
      pair.right.assertQuiet();
      pair.right.verify("a write that the queue pair does not allow");
    }
  }

  @Test
  @Needs(Feature.RECEIVE_ERRORS)
  void receiveThatIsTooSmallIsAnErrorOfTheReceiver() {
    try (RcPair pair = setup().open()) {
      for (long[] sizes : new long[][] {{8, 7}, {5000, 300}}) {
        pair.right.postReceive(1, 100, sizes[1]);
        pair.right.postReceive(2, 100, 8);
        pair.left.send.wrId(3).send().sge(pair.left.buffer, 0, sizes[0]).signaled();
        pair.left.qp.postSend(pair.left.send);
        Side.assertSuccess(pair.left.sent());
        List<Wc> found = pair.right.received(2);
        assertThat(found).extracting(Wc::wrId).containsExactly(1L, 2L);
        assertThat(found)
            .extracting(Wc::status)
            .containsExactly(WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR);
        assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
        assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
        pair.right.qp.modify(QpAttributes.to(QpState.RESET));
        pair.left.qp.modify(QpAttributes.to(QpState.RESET));
        pair.right.expectAnything(100, sizes[1]);
        pair.connect(5, 6);
        assertWorks(pair);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD"})
  @VerbsCase(says = "UC: RDMA READ and atomics are refused at the post, EOPNOTSUPP")
  void operationWithAResponseIsRefused(WrOpcode opcode) {
    try (RcPair pair = setup().open()) {
      long address = pair.right.address(0);
      int rkey = pair.right.buffer.rkey();
      SendRequest request =
          switch (opcode) {
            case RDMA_READ -> pair.left.send.rdmaRead(address, rkey);
            case ATOMIC_CMP_AND_SWP -> pair.left.send.compareAndSwap(address, rkey, 1, 2);
            default -> pair.left.send.fetchAndAdd(address, rkey, 1);
          };
      request.sge(pair.left.buffer, 0, 8);
      assertThatThrownBy(() -> pair.left.qp.postSend(request)).hasMessageContaining("EOPNOTSUPP");
      assertWorks(pair);
    }
  }

  @Test
  @VerbsCase(
      says = "UC: SEND, RDMA WRITE and both with immediate arrive, also with several packets")
  void messagesArrive() {
    try (RcPair pair = new RcSetup().type(QpType.UC).open()) {
      for (WrOpcode opcode :
          Transfer.possible(
              WrOpcode.RDMA_WRITE,
              WrOpcode.SEND,
              WrOpcode.SEND_WITH_IMM,
              WrOpcode.RDMA_WRITE_WITH_IMM)) {
        pair.traffic(opcode, 3000, 10);
      }
    }
  }

  @Test
  @VerbsCase(says = "UC loses messages: the peer does not answer, SUCCESS at the sender at once")
  void silentPeerIsNotDetected() {
    try (RcPair pair = setup().open()) {
      pair.right.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 3000).signaled());
      Side.assertSuccess(pair.left.sent());
      write(pair, pair.right.buffer.rkey(), 3000);
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
    }
  }
}

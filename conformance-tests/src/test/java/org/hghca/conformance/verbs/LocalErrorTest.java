package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that fail because of the poster's own memory. */
class LocalErrorTest {

  private static SendRequest start(RcPair pair, WrOpcode opcode) {
    long address = pair.right.address(0);
    int rkey = pair.right.buffer.rkey();
    return switch (opcode) {
      case SEND -> pair.left.send.send();
      case SEND_WITH_IMM -> pair.left.send.sendWithImmediate(1);
      case RDMA_WRITE -> pair.left.send.rdmaWrite(address, rkey);
      case RDMA_WRITE_WITH_IMM -> pair.left.send.rdmaWriteWithImmediate(address, rkey, 1);
      default -> pair.left.send.rdmaRead(address, rkey);
    };
  }

  /** The element of a send request is refused; the peer receives nothing. */
  private static void assertSendFails(
      RcPair pair, WrOpcode opcode, long address, long length, int lkey) {
    Transfer.requireImmediates(opcode);
    if (!TestProfile.has(Feature.LOCAL_ERROR_COMPLETIONS)) {
      SendRequest request = start(pair, opcode).wrId(4).sge(address, length, lkey);
      assertRefused(() -> pair.left.qp.postSend(request), "element 0");
      assertNothingHappened(pair);
      TestProfile.require(Feature.LOCAL_ERROR_COMPLETIONS);
    }
    if (Transfer.takesReceive(opcode)) {
      pair.right.postReceive(1, 0, 100);
    }
    pair.left.qp.postSend(start(pair, opcode).wrId(4).sge(address, length, lkey));
    Wc completion = pair.left.sent();
    assertThat(completion.status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    assertThat(completion.wrId()).isEqualTo(4);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    assertThat(pair.right.qp.query().state()).isEqualTo(QpState.RTS);
    pair.right.verify("nothing sent");
    pair.left.verify("nothing read");
    pair.right.assertQuiet();
  }

  /** Where a bad element would stop the card, the post fails before anything is written. */
  private static void assertRefused(ThrowingCallable post, String... words) {
    assertBadRequest(Errno.EINVAL, 0, post, words);
  }

  private static void assertNothingHappened(RcPair pair) {
    pair.left.assertQuiet();
    pair.right.assertQuiet();
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
    Transfer transfer = new Transfer(pair.left, pair.right, 5);
    transfer.run(WrOpcode.SEND, Pieces.one(0, 100), Pieces.one(0, 100));
    pair.right.verify("a message after the refused one");
  }

  static final WrOpcode[] OPCODES = MessageSizeTest.OPCODES;

  @ParameterizedTest
  @FieldSource("OPCODES")
  void unknownLocalKeyFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open()) {
      assertSendFails(pair, opcode, pair.left.address(0), 8, pair.left.buffer.lkey() ^ 1 << 24);
    }
  }

  static Stream<Arguments> outside() {
    return Stream.of(OPCODES)
        .flatMap(
            opcode ->
                Stream.of(
                    Arguments.of(opcode, -1L, 2L),
                    Arguments.of(opcode, -1L, 8L),
                    Arguments.of(opcode, 993L, 8L),
                    Arguments.of(opcode, 999L, 2L),
                    Arguments.of(opcode, 1000L, 1L)));
  }

  @ParameterizedTest
  @MethodSource("outside")
  void elementBeyondItsRegionFails(WrOpcode opcode, long offset, long length) {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.left.pd.allocate(1000, Side.ALL)) {
      assertSendFails(pair, opcode, region.address() + offset, length, region.lkey());
    }
  }

  @ParameterizedTest
  @MethodSource("outside")
  void elementBeyondARegionAtAnOddAddressFails(WrOpcode opcode, long offset, long length) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8192, 4096).asSlice(3501, 1000);
      try (MemoryRegion region = pair.left.pd.register(memory, Side.ALL)) {
        assertSendFails(pair, opcode, region.address() + offset, length, region.lkey());
      }
    }
  }

  @ParameterizedTest
  @FieldSource("OPCODES")
  void keyOfAnotherProtectionDomainFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open();
        ProtectionDomain other = pair.left.context.allocateProtectionDomain();
        MemoryRegion region = other.allocate(4096, Side.ALL)) {
      assertSendFails(pair, opcode, region.address(), 8, region.lkey());
    }
  }

  @ParameterizedTest
  @FieldSource("OPCODES")
  void keyOfADeregisteredRegionFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(4096);
      MemoryRegion region = pair.left.pd.register(memory, Side.ALL);
      int lkey = region.lkey();
      region.close();
      assertSendFails(pair, opcode, memory.address(), 8, lkey);
    }
  }

  @Test
  void readIntoARegionWithoutLocalWriteFails() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.left.pd.allocate(64, AccessFlag.REMOTE_READ)) {
      assertSendFails(pair, WrOpcode.RDMA_READ, region.address(), 8, region.lkey());
    }
  }

  @Test
  void secondElementIsCheckedLikeTheFirst() {
    try (RcPair pair = new RcSetup().sges(2).open()) {
      SendRequest request =
          pair.left.send.send().sge(pair.left.buffer, 0, 8).sge(pair.left.address(8), 8, 0);
      if (!TestProfile.has(Feature.LOCAL_ERROR_COMPLETIONS)) {
        assertRefused(() -> pair.left.qp.postSend(request), "element 1");
        assertNothingHappened(pair);
        TestProfile.require(Feature.LOCAL_ERROR_COMPLETIONS);
      }
      pair.right.postReceive(1, 0, 100);
      pair.left.qp.postSend(request);
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
      pair.right.verify("nothing sent");
    }
  }

  @Test
  @Needs(Feature.ZERO_LENGTH)
  void emptyElementsOfDeregisteredMemoryAreSent() {
    try (RcPair pair = RcPair.open()) {
      pair.right.postReceive(1, 0, 8);
      pair.left.qp.postSend(pair.left.send.send().sge(0, 0, 0x1234).signaled());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.right.received().bytes()).isZero();
    }
  }

  /** The receiver refuses the receive of a message, and the sender is notified. */
  private static void assertReceiveFails(RcPair pair, long address, long length, int lkey) {
    ReceiveRequest receive = pair.right.receive.wrId(6).empty().sge(address, length, lkey);
    if (!TestProfile.has(Feature.LOCAL_ERROR_COMPLETIONS)) {
      assertRefused(() -> pair.right.qp.postReceive(receive), "element 0");
      assertNothingHappened(pair);
      TestProfile.require(Feature.LOCAL_ERROR_COMPLETIONS);
    }
    pair.right.qp.postReceive(receive);
    pair.left.qp.postSend(pair.left.send.wrId(7).send().sge(pair.left.buffer, 0, 8).signaled());
    Wc received = pair.right.received();
    assertThat(received.status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    assertThat(received.wrId()).isEqualTo(6);
    Wc sent = pair.left.sent();
    assertThat(sent.status()).isEqualTo(WcStatus.REM_OP_ERR);
    assertThat(sent.wrId()).isEqualTo(7);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
    pair.right.verify("nothing received");
  }

  @Test
  @VerbsCase(
      says = "a bad lkey in a receive: LOC_PROT_ERR at the responder, REM_OP_ERR at the requester")
  void receiveWithAnUnknownKeyFailsBothSides() {
    try (RcPair pair = RcPair.open()) {
      assertReceiveFails(pair, pair.right.address(0), 8, pair.right.buffer.lkey() + 1);
    }
  }

  @Test
  void receiveBeyondItsRegionFailsBothSides() {
    try (RcPair pair = RcPair.open()) {
      long end = pair.right.buffer.length();
      assertReceiveFails(pair, pair.right.address(end - 7), 8, pair.right.buffer.lkey());
    }
  }

  @Test
  void receiveIntoAnotherProtectionDomainFailsBothSides() {
    try (RcPair pair = RcPair.open();
        ProtectionDomain other = pair.right.context.allocateProtectionDomain();
        MemoryRegion region = other.allocate(64, Side.ALL)) {
      assertReceiveFails(pair, region.address(), 8, region.lkey());
    }
  }

  @Test
  void receiveIntoARegionWithoutLocalWriteFailsBothSides() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(64, AccessFlag.REMOTE_READ)) {
      assertReceiveFails(pair, region.address(), 8, region.lkey());
    }
  }

  @Test
  void receiveOfARegionDeregisteredLaterFailsBothSides() {
    try (RcPair pair = RcPair.open()) {
      MemoryRegion region = pair.right.pd.allocate(64, Side.ALL);
      long address = region.address();
      int lkey = region.lkey();
      region.close();
      assertReceiveFails(pair, address, 8, lkey);
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation, at sizes around every relevant power of two, at every path MTU. */
@Tag("rc")
class MessageSizeTest {
  static final WrOpcode[] OPCODES = {
    WrOpcode.SEND,
    WrOpcode.SEND_WITH_IMM,
    WrOpcode.RDMA_WRITE,
    WrOpcode.RDMA_WRITE_WITH_IMM,
    WrOpcode.RDMA_READ
  };

  private static final int MIB = 1 << 20;
  private static final int[] SIZES = {
    0, 1, 2, 3, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193,
    65536, MIB - 1, MIB, MIB + 1
  };

  private static final long BUFFER = MIB + 8192;
  private static final long MOST = 1L << 31;
  private static final int ELEMENTS = 16;
  private static final long ELEMENT = MOST / ELEMENTS;

  static Stream<Arguments> everyOperationAtEveryMtu() {
    return Arrays.stream(OPCODES)
        .flatMap(opcode -> Arrays.stream(Mtu.values()).map(mtu -> Arguments.of(opcode, mtu)));
  }

  @ParameterizedTest
  @MethodSource("everyOperationAtEveryMtu")
  void everySizeArrivesCompleteAndNothingElseChanges(WrOpcode opcode, Mtu mtu) {
    try (RcPair pair = new RcSetup().mtu(mtu).bufferSize(BUFFER).open()) {
      sizesBothWays(pair, opcode, SIZES);
    }
  }

  @ParameterizedTest
  @FieldSource("OPCODES")
  void everySizeArrivesInTheThreadedSimulation(WrOpcode opcode) {
    try (RcPair pair = new RcSetup().bufferSize(BUFFER).on(Fabric.threaded())) {
      sizesBothWays(pair, opcode, SIZES);
    }
  }

  @ParameterizedTest
  @MethodSource("everyOperationAtEveryMtu")
  @Needs(Feature.PSN_WRAP)
  void psnWrapsInTheMiddleOfMessages(WrOpcode opcode, Mtu mtu) {
    try (RcPair pair = new RcSetup().mtu(mtu).psns(0xfffffe, 0xfffffd).open()) {
      sizesBothWays(pair, opcode, 0, 4 * mtu.bytes(), 4 * mtu.bytes() + 1, 1);
    }
  }

  /** Each size from and to odd addresses. */
  private static void sizesBothWays(RcPair pair, WrOpcode opcode, int... sizes) {
    Transfer toRight = new Transfer(pair.left, pair.right, 1);
    Transfer toLeft = new Transfer(pair.right, pair.left, 2);
    for (int size : Sizes.some(sizes)) {
      toRight.run(opcode, Pieces.one(64 + size % 61, size), Pieces.one(128 + size % 59, size));
      toLeft.run(opcode, Pieces.one(4096 + size % 13, size), Pieces.one(4095 - size % 7, size));
    }
  }

  @Test
  @VerbsCase(says = "a SEND of 2^31 bytes arrives: both completions, its length, its data")
  void largestMessageArrives() {
    RcSetup setup = new RcSetup().depth(1).sges(ELEMENTS).bufferSize(ELEMENT).mtu(Mtu.MTU_4096);
    try (RcPair pair = setup.on(Fabric.inline())) {
      Side left = pair.left;
      Side right = pair.right;
      assertThat(left.context.queryPort(1).maxMessageSize()).isEqualTo(MOST);
      MemorySegment data = left.memory();
      data.fill((byte) 0x6b);
      data.asSlice(ELEMENT / 2, 1000).fill((byte) 0x3d);
      left.send.wrId(1).send().signaled();
      right.receive.wrId(2).empty();
      for (int i = 0; i < ELEMENTS; i++) {
        left.send.sge(left.buffer);
        right.receive.sge(right.buffer, 0, ELEMENT);
      }
      right.qp.postReceive(right.receive);
      left.qp.postSend(left.send);
      Side.assertSuccess(left.sent());
      Wc received = right.received();
      Side.assertSuccess(received);
      assertThat(received.bytes()).isEqualTo(MOST);
      assertThat(right.memory().mismatch(data)).isEqualTo(-1);
    }
  }

  @Test
  @VerbsCase(says = "a message of 2^31 + 1 bytes is refused at the post, EINVAL")
  void largerMessageIsRefused() {
    try (RcPair pair = new RcSetup().sges(3).open()) {
      SendRequest send = pair.left.send.send();
      int lkey = pair.left.buffer.lkey();
      send.sge(0x1000, MOST / 2, lkey).sge(0x1000, MOST / 2, lkey).sge(0x1000, 1, lkey);
      assertBadRequest(
          Errno.EINVAL,
          0,
          () -> pair.left.qp.postSend(send),
          TestProfile.pick(Feature.LOCAL_ERROR_COMPLETIONS, "2147483649 bytes", "element 0"));
    }
  }
}

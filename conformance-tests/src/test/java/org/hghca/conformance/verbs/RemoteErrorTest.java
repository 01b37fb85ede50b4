package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that the peer must refuse, because of its memory or of its queue pair. */
class RemoteErrorTest {
  static final WrOpcode[] RDMA = {
    WrOpcode.RDMA_WRITE, WrOpcode.RDMA_WRITE_WITH_IMM, WrOpcode.RDMA_READ
  };

  private static SendRequest rdma(Side from, WrOpcode opcode, long address, int rkey) {
    return switch (opcode) {
      case RDMA_WRITE -> from.send.rdmaWrite(address, rkey);
      case RDMA_WRITE_WITH_IMM -> from.send.rdmaWriteWithImmediate(address, rkey, 1);
      default -> from.send.rdmaRead(address, rkey);
    };
  }

  /** The request fails, memory does not change on either side, and both queue pairs are in ERR. */
  private static void assertFails(
      RcPair pair, WrOpcode opcode, long address, int rkey, long length, WcStatus... possible) {
    if (opcode == WrOpcode.RDMA_READ) {
      TestProfile.require(Feature.REFUSED_READS);
    }
    Side left = pair.left;
    left.qp.postSend(
        rdma(left, opcode, address, rkey).sge(left.buffer, 0, length).wrId(9).signaled());
    left.qp.postSend(left.send.wrId(10).send().sge(left.buffer, 0, 1));
    var completions = left.sent(2);
    assertThat(completions.getFirst().status())
        .isIn(Arrays.stream(possible).map(Wc::cause).toArray());
    assertThat(completions.getFirst().wrId()).isEqualTo(9);
    assertThat(completions.getLast().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(completions.getLast().wrId()).isEqualTo(10);
    assertThat(left.qp.state()).isEqualTo(QpState.ERR);
    assertThat(left.qp.query().state()).isEqualTo(QpState.ERR);
    assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
    left.verify("refused " + opcode);
    pair.right.verify("refused " + opcode);
    left.assertQuiet();
    TestProfile.require(Feature.ERROR_CAUSE);
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.REMOTE_PROTECTION)
  void unknownKeyFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open()) {
      assertFails(pair, opcode, pair.right.address(0), 0x7fff_fff0, 8, WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.REMOTE_PROTECTION)
  void keyWithADifferentVariantPartFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open()) {
      int rkey = pair.right.buffer.rkey() ^ 1 << 24;
      assertFails(pair, opcode, pair.right.address(0), rkey, 8, WcStatus.REM_ACCESS_ERR);
    }
  }

  static Stream<Arguments> outside() {
    // Offset into a region of 1000 bytes, and length.
    return Stream.of(RDMA)
        .flatMap(
            opcode ->
                Stream.of(
                    Arguments.of(opcode, -1L, 1L),
                    Arguments.of(opcode, -1L, 2L),
                    Arguments.of(opcode, 1000L, 1L),
                    Arguments.of(opcode, 999L, 2L),
                    Arguments.of(opcode, -1L, 8L),
                    Arguments.of(opcode, -7L, 8L),
                    Arguments.of(opcode, 993L, 8L),
                    Arguments.of(opcode, 999L, 8L),
                    Arguments.of(opcode, 0L, 1001L),
                    Arguments.of(opcode, -1L, 1001L),
                    Arguments.of(opcode, 4096L, 1L),
                    Arguments.of(opcode, -4096L, 4096L)));
  }

  /** The first RTL does not check the lower bound; here no memory lies below. */
  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.REMOTE_PROTECTION)
  void bytesBelowAZeroBasedRegionFail(WrOpcode opcode) {
    try (RcPair pair = RcPair.open();
        MemoryRegion region =
            pair.right.pd.allocate(
                8192,
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.ZERO_BASED)) {
      assertFails(pair, opcode, -4096, region.rkey(), 64, WcStatus.REM_ACCESS_ERR);
      assertThat(region.segment().mismatch(MemorySegment.ofArray(new byte[8192]))).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @MethodSource("outside")
  @Needs(Feature.REMOTE_PROTECTION)
  void bytesOutsideTheRegionFail(WrOpcode opcode, long offset, long length) {
    if (offset != 4096) {
      TestProfile.require(Feature.BYTE_EXACT_REMOTE_BOUNDS);
    }
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment around = arena.allocate(16384, 4096).fill((byte) 0x5a);
      try (MemoryRegion region = pair.right.pd.register(around.asSlice(5000, 1000), Side.ALL)) {
        assertFails(
            pair,
            opcode,
            region.address() + offset,
            region.rkey(),
            length,
            WcStatus.REM_ACCESS_ERR);
        MemorySegment same = arena.allocate(16384).fill((byte) 0x5a);
        assertThat(around.mismatch(same)).isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "63, 7", "4095, 2", "4095, 4098", "4097, 4095", "5001, 999"})
  @Needs(Feature.BYTE_EXACT_REMOTE_BOUNDS)
  void regionsAtOddAddressesAndOfOddLengthsEndToTheByte(long offset, long length) {
    for (WrOpcode opcode : RDMA) {
      for (boolean before : new boolean[] {true, false}) {
        try (RcPair pair = RcPair.open();
            Arena arena = Arena.ofShared()) {
          MemorySegment memory = arena.allocate(16384, 4096).asSlice(offset, length);
          try (MemoryRegion region = pair.right.pd.register(memory, Side.ALL)) {
            long first = region.address();
            long last = first + length - 1;
            assertFails(
                pair, opcode, before ? first - 1 : last, region.rkey(), 2, WcStatus.REM_ACCESS_ERR);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  void firstAndLastByteOfARegionAreAccessible(WrOpcode opcode) {
    try (RcPair pair = new RcSetup().bufferSize(5001).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 1);
      transfer.run(opcode, Pieces.one(0, 1), Pieces.one(0, 1));
      transfer.run(opcode, Pieces.one(5000, 1), Pieces.one(5000, 1));
      transfer.run(opcode, Pieces.one(0, 5001), Pieces.one(0, 5001));
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void regionWithoutRemoteWriteIsNotWritten() {
    try (RcPair pair =
        new RcSetup().bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ).open()) {
      int rkey = pair.right.buffer.rkey();
      assertFails(
          pair, WrOpcode.RDMA_WRITE, pair.right.address(0), rkey, 5000, WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  @Needs(Feature.REFUSED_READS)
  void regionWithoutRemoteReadIsNotRead() {
    try (RcPair pair =
        new RcSetup().bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).open()) {
      int rkey = pair.right.buffer.rkey();
      assertFails(
          pair, WrOpcode.RDMA_READ, pair.right.address(0), rkey, 5000, WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.QUEUE_PAIR_ACCESS)
  void queuePairWithoutTheAccessRightRefusesTheOperation(WrOpcode opcode) {
    AccessFlag other =
        opcode == WrOpcode.RDMA_READ ? AccessFlag.REMOTE_WRITE : AccessFlag.REMOTE_READ;
    try (RcPair pair = new RcSetup().qpAccess(other).open()) {
      assertFails(
          pair,
          opcode,
          pair.right.address(0),
          pair.right.buffer.rkey(),
          8,
          WcStatus.REM_INV_REQ_ERR,
          WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.REMOTE_PROTECTION)
  void keyOfAnotherProtectionDomainFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open();
        ProtectionDomain other = pair.right.context.allocateProtectionDomain();
        MemoryRegion region = other.allocate(4096, Side.ALL)) {
      assertFails(pair, opcode, region.address(), region.rkey(), 8, WcStatus.REM_ACCESS_ERR);
      assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }
  }

  @ParameterizedTest
  @FieldSource("RDMA")
  @Needs(Feature.REMOTE_PROTECTION)
  void keyOfADeregisteredRegionFails(WrOpcode opcode) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(4096, 4096);
      MemoryRegion region = pair.right.pd.register(memory, Side.ALL);
      int rkey = region.rkey();
      region.close();
      assertFails(pair, opcode, memory.address(), rkey, 8, WcStatus.REM_ACCESS_ERR);
      assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }
  }

  @Test
  @VerbsCase(
      says =
          "a receive that is too small: LOC_LEN_ERR at the responder, REM_INV_REQ_ERR at the"
              + " requester")
  @Needs(Feature.RECEIVE_ERRORS)
  void receiveBufferTooSmallFailsBothSides() {
    for (long length : new long[] {9, 1024, 5000}) {
      try (RcPair pair = RcPair.open()) {
        pair.right.postReceive(1, 100, length - 1);
        pair.right.postReceive(2, 0, 8);
        pair.left.send.wrId(3).send().sge(pair.left.buffer, 0, length).signaled();
        pair.left.qp.postSend(pair.left.send);
        assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_INV_REQ_ERR);
        var received = pair.right.received(2);
        assertThat(received).extracting(Wc::wrId).containsExactly(1L, 2L);
        assertThat(received)
            .extracting(Wc::status)
            .containsExactly(WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR);
        assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
        assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
        pair.right.expectAnything(100, length - 1);
        pair.right.verify("outside the receive that was too small");
      }
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void requestsBeforeTheErrorCompleteAndLaterOnesAreFlushed() {
    try (RcPair pair = RcPair.open()) {
      int rkey = pair.right.buffer.rkey();
      for (int i = 0; i < 6; i++) {
        pair.left.qp.postSend(
            pair.left
                .send
                .wrId(i)
                .rdmaWrite(pair.right.address(8L * i), i == 3 ? rkey + 1 : rkey)
                .sge(pair.left.buffer, 0, 8)
                .signaled());
      }
      var completions = pair.left.sent(6);
      assertThat(completions).extracting(Wc::wrId).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
      assertThat(completions)
          .extracting(Wc::status)
          .containsExactly(
              WcStatus.SUCCESS,
              WcStatus.SUCCESS,
              WcStatus.SUCCESS,
              Wc.cause(WcStatus.REM_ACCESS_ERR),
              WcStatus.WR_FLUSH_ERR,
              WcStatus.WR_FLUSH_ERR);
    }
  }
}

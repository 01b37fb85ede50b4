package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.verbs.Pieces.Piece;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions whose bytes are addressed by their offsets. */
class ZeroBasedRegionTest {
  private static final Set<AccessFlag> ZERO_BASED =
      Set.of(
          AccessFlag.LOCAL_WRITE,
          AccessFlag.REMOTE_WRITE,
          AccessFlag.REMOTE_READ,
          AccessFlag.ZERO_BASED);

  @ParameterizedTest
  @CsvSource({"0, 1", "0, 10000", "4095, 2", "4096, 4096", "5001, 4999", "9999, 1"})
  void peersAddressBytesByTheirOffsets(long firstByte, long bytes) {
    Piece part = Landing.within(0, new Piece(firstByte, bytes));
    long offset = part.offset();
    long length = part.length();
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(10_000, ZERO_BASED)) {
      Side left = pair.left;
      assertThat(region.address()).isZero();
      assertThat(region.length()).isEqualTo(10_000);
      left.randomize(0, length, new SplittableRandom(offset));
      left.qp.postSend(
          left.send.rdmaWrite(offset, region.rkey()).sge(left.buffer, 0, length).signaled());
      Side.assertSuccess(left.sent());
      MemorySegment there = region.segment().asSlice(offset, length);
      pair.fabric.awaitWritten(there, left.memory().asSlice(0, length));
      left.qp.postSend(
          left.send.rdmaRead(offset, region.rkey()).sge(left.buffer, 20_480, length).signaled());
      Side.assertSuccess(left.sent());
      left.expect(20_480, left, 0, length);
      left.verify("READ of written data");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestsUsePartsOfThem(boolean inline) {
    try (RcPair pair = new RcSetup().inline(64).open();
        MemoryRegion from = pair.left.pd.allocate(10_000, ZERO_BASED);
        MemoryRegion into = pair.right.pd.allocate(10_000, ZERO_BASED)) {
      for (int i = 0; i < 50; i++) {
        from.segment().set(ValueLayout.JAVA_BYTE, 4090 + i, (byte) i);
      }
      long at = Landing.legal(Pieces.one(8190, 50)).parts().getFirst().offset();
      pair.right.qp.postReceive(pair.right.receive.into(into, at, 50));
      pair.left.send.send().sge(from, 4090, 50).signaled();
      pair.left.qp.postSend(inline ? pair.left.send.inline() : pair.left.send);
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
      assertThat(into.segment().asSlice(at, 50).mismatch(from.segment().asSlice(4090, 50)))
          .isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @CsvSource({"-1, 1", "-1, 2", "10000, 1", "9999, 2", "0, 10001", "4611686018427387904, 1"})
  @Needs(Feature.REMOTE_PROTECTION)
  void bytesBeyondThemFail(long offset, long length) {
    if (offset != Long.MAX_VALUE / 2 + 1) {
      TestProfile.require(Feature.BYTE_EXACT_REMOTE_BOUNDS);
    }
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(10_000, ZERO_BASED)) {
      pair.left.qp.postSend(
          pair.left.send.rdmaWrite(offset, region.rkey()).sge(pair.left.buffer, 0, length));
      assertThat(pair.left.sent().status()).isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void virtualAddressOfTheirMemoryFails() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(10_000, ZERO_BASED)) {
      long address = region.segment().address();
      pair.left.qp.postSend(
          pair.left.send.rdmaWrite(address, region.rkey()).sge(pair.left.buffer, 0, 8));
      assertThat(pair.left.sent().status()).isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 64, 4095})
  void theirMemoryMustStartAtAPage(long offset) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8192, 4096);
      assertErrno(
          Errno.EINVAL,
          () -> pair.left.pd.register(memory.asSlice(offset), ZERO_BASED),
          "ZERO_BASED",
          "page of 4096 bytes",
          "alignment");
      pair.left.pd.register(memory.asSlice(4096, 17), ZERO_BASED).close();
    }
  }

  @Test
  @Needs(Feature.REREGISTRATION)
  void regionBecomesZeroBasedByReregistration() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(100, Side.ALL)) {
      region.reregister(
          Reregistration.to(
              AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED));
      assertThat(region.address()).isZero();
      pair.left.randomize(0, 10, new SplittableRandom(1));
      pair.left.qp.postSend(
          pair.left.send.rdmaWrite(90, region.rkey()).sge(pair.left.buffer, 0, 10).signaled());
      Side.assertSuccess(pair.left.sent());
      pair.fabric.awaitWritten(region.segment().asSlice(90), pair.left.memory().asSlice(0, 10));
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compare-and-swap and fetch-and-add on 8 bytes of the peer's memory. */
@Tag("rc")
@Needs(Feature.ATOMICS)
class AtomicTest {
  static final WrOpcode[] ATOMICS = {WrOpcode.ATOMIC_CMP_AND_SWP, WrOpcode.ATOMIC_FETCH_AND_ADD};

  private static final AccessFlag[] ALL = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_ATOMIC
  };

  private static final ValueLayout.OfLong VALUE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Offset of the value at the peer, and of the returned value. */
  private static final long THERE = 0x1008;

  private static final long HERE = 0x203;

  private static RcSetup setup() {
    return new RcSetup().bufferAccess(ALL).qpAccess(ALL);
  }

  private static long value(Side side, long offset) {
    return side.memory().get(VALUE, offset);
  }

  private static void put(RcPair pair, long value) {
    pair.right.memory().set(VALUE, THERE, value);
    pair.right.expectAnything(THERE, 8);
    pair.left.memory().set(VALUE, HERE, 0x5a5a_5a5a_5a5a_5a5aL);
    pair.left.expectAnything(HERE, 8);
  }

  private static SendRequest atomic(RcPair pair, WrOpcode opcode) {
    return atomic(pair, opcode, pair.right.address(THERE), pair.right.buffer.rkey());
  }

  private static SendRequest atomic(RcPair pair, WrOpcode opcode, long address, int rkey) {
    SendRequest request = pair.left.send.wrId(7);
    return opcode == WrOpcode.ATOMIC_CMP_AND_SWP
        ? request.compareAndSwap(address, rkey, 0, 1)
        : request.fetchAndAdd(address, rkey, 1);
  }

  /** Posts a request, and checks its completion, the returned value and the new value. */
  private static void assertDoes(RcPair pair, SendRequest request, long found, long left) {
    pair.left.qp.postSend(request.sge(pair.left.buffer, HERE, 8).wrId(7).signaled());
    Wc sent = pair.left.sent();
    Side.assertSuccess(sent);
    assertThat(sent.wrId()).isEqualTo(7);
    assertThat(sent.opcode()).isEqualTo(request.opcode().completion());
    assertThat(sent.bytes()).isEqualTo(8);
    assertThat(value(pair.left, HERE)).isEqualTo(found);
    assertThat(value(pair.right, THERE)).isEqualTo(left);
    pair.left.expectAnything(HERE, 8);
    pair.right.expectAnything(THERE, 8);
    pair.left.verify("beside what was there before");
    pair.right.verify("beside the value");
    assertThat(Wc.drain(pair.right.receiveQueue)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    // current value, compare, swap, new value
    "5, 5, 9, 9",
    "5, 6, 9, 5",
    "0, 0, 0, 0",
    "-1, -1, 1, 1",
    "0x0000000100000000, 0, 9, 0x0000000100000000",
    "0x1122334455667788, 0x1122334455667788, -2, -2",
    "0x1122334455667788, 0x0022334455667788, -2, 0x1122334455667788",
    "0x7fffffffffffffff, 0x7ffffffffffffffe, 3, 0x7fffffffffffffff"
  })
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_cmp_and_swap",
      says = "equal: swapped; different: unchanged; the requester gets the original 8 bytes")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_cmp_swp",
      says = "the same, with the only post method")
  void compareAndSwap(String there, String compare, String swap, String then) {
    try (RcPair pair = setup().open()) {
      put(pair, Long.decode(there));
      assertDoes(
          pair,
          pair.left.send.compareAndSwap(
              pair.right.address(THERE),
              pair.right.buffer.rkey(),
              Long.decode(compare),
              Long.decode(swap)),
          Long.decode(there),
          Long.decode(then));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1",
    "5, 0, 5",
    "5, -3, 2",
    "-1, 1, 0",
    "0x00000000ffffffff, 1, 0x0000000100000000",
    "0x7fffffffffffffff, 1, -9223372036854775808",
    "-9223372036854775808, -9223372036854775808, 0"
  })
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_fetch_and_add",
      says = "added modulo 2^64; the requester gets the original 8 bytes")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_fetch_add",
      says = "the same, with the only post method")
  void fetchAndAdd(String there, String add, String then) {
    try (RcPair pair = setup().open()) {
      put(pair, Long.decode(there));
      assertDoes(
          pair,
          pair.left.send.fetchAndAdd(
              pair.right.address(THERE), pair.right.buffer.rkey(), Long.decode(add)),
          Long.decode(there),
          Long.decode(then));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 16})
  void manyInARowAreExecutedInOrder(int readAtomic) {
    int depth = 64;
    try (RcPair pair = setup().depth(depth).readAtomic(readAtomic).open()) {
      SplittableRandom random = new SplittableRandom(readAtomic);
      long value = random.nextLong();
      put(pair, value);
      long[] before = new long[depth];
      for (int i = 0; i < depth; i++) {
        before[i] = value;
        boolean swaps = random.nextBoolean();
        long operand = random.nextLong();
        long compare = random.nextInt(3) == 0 ? ~value : value;
        long address = pair.right.address(THERE);
        int rkey = pair.right.buffer.rkey();
        SendRequest request =
            swaps
                ? pair.left.send.compareAndSwap(address, rkey, compare, operand)
                : pair.left.send.fetchAndAdd(address, rkey, operand);
        if (!swaps) {
          value += operand;
        } else if (compare == value) {
          value = operand;
        }
        pair.left.qp.postSend(request.wrId(i).sge(pair.left.buffer, 8L * i, 8).signaled());
      }
      List<Wc> sent = pair.left.sent(depth);
      for (int i = 0; i < depth; i++) {
        Side.assertSuccess(sent.get(i));
        assertThat(sent.get(i).wrId()).isEqualTo(i);
        assertThat(value(pair.left, 8L * i)).as("request %d", i).isEqualTo(before[i]);
      }
      assertThat(value(pair.right, THERE)).isEqualTo(value);
    }
  }

  @Test
  void concurrentAdditionsOfBothSidesAreAllCounted() {
    try (RcPair pair = setup().open()) {
      put(pair, 0);
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++) {
          post(pair.left, pair.right, 1);
          post(pair.right, pair.left, 3);
        }
        assertThat(pair.left.sent(8)).allMatch(wc -> wc.opcode() == WcOpcode.FETCH_ADD);
        assertThat(pair.right.sent(8)).allMatch(wc -> wc.status() == WcStatus.SUCCESS);
      }
      assertThat(value(pair.right, THERE)).isEqualTo(160);
      assertThat(value(pair.left, THERE)).isEqualTo(480);
    }
  }

  private static void post(Side from, Side to, long add) {
    from.qp.postSend(
        from.send
            .fetchAndAdd(to.address(THERE), to.buffer.rkey(), add)
            .sge(from.buffer, HERE, 8)
            .signaled());
  }

  @Test
  void severalQueuePairsAddToOneValue() {
    RcSetup setup = setup();
    try (RcPair pair = setup.open();
        QueuePair from = second(setup, pair.left);
        QueuePair to = second(setup, pair.right)) {
      RcPair.connect(setup, from, to);
      put(pair, 0);
      long[] seen = new long[64];
      for (int i = 0; i < seen.length; i += 16) {
        for (int j = i; j < i + 16; j++) {
          SendRequest request = atomic(pair, WrOpcode.ATOMIC_FETCH_AND_ADD);
          request.sge(pair.left.buffer, 8L * j, 8).signaled();
          ((j & 1) == 0 ? from : pair.left.qp).postSend(request);
        }
        assertThat(pair.left.sent(16)).allMatch(wc -> wc.status() == WcStatus.SUCCESS);
      }
      for (int i = 0; i < seen.length; i++) {
        seen[i] = value(pair.left, 8L * i);
      }
      // Each returned another number: none was added twice.
      assertThat(seen).containsExactlyInAnyOrder(LongStream.range(0, seen.length).toArray());
      assertThat(value(pair.right, THERE)).isEqualTo(seen.length);
    }
  }

  private static QueuePair second(RcSetup setup, Side side) {
    return side.pd.createQueuePair(
        setup.apply(QueuePairConfig.rc(side.sendQueue, side.receiveQueue)));
  }

  @Test
  void unsignaledAtomicsAndAFenceBehindThem() {
    try (RcPair pair = setup().open()) {
      put(pair, 41);
      pair.left.qp.postSend(
          atomic(pair, WrOpcode.ATOMIC_FETCH_AND_ADD).sge(pair.left.buffer, HERE, 8));
      // The fenced write carries the value that the atomic returned.
      pair.left.qp.postSend(
          pair.write(0).wrId(8).sge(pair.left.buffer, HERE, 8).fence().signaled());
      Wc sent = pair.left.sent();
      Side.assertSuccess(sent);
      assertThat(sent.wrId()).isEqualTo(8);
      assertThat(value(pair.right, 0)).isEqualTo(41);
      assertThat(value(pair.right, THERE)).isEqualTo(42);
    }
  }

  /** The peer refuses a request: nothing changes, and both queue pairs are in ERR. */
  private static void assertRefused(RcPair pair, SendRequest request, WcStatus status) {
    put(pair, 0);
    pair.left.qp.postSend(request.sge(pair.left.buffer, HERE, 8).signaled());
    pair.left.qp.postSend(pair.left.send.wrId(8).send());
    List<Wc> sent = pair.left.sent(2);
    assertThat(sent).extracting(Wc::wrId).containsExactly(7L, 8L);
    assertThat(sent).extracting(Wc::status).containsExactly(status, WcStatus.WR_FLUSH_ERR);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    assertThat(pair.right.qp.query().state()).isEqualTo(QpState.ERR);
    pair.left.verify("a refused atomic");
    pair.right.verify("a refused atomic");
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_qp_access",
      says = "a queue pair without REMOTE_ATOMIC: REM_INV_REQ_ERR")
  void queuePairWithoutRemoteAtomicRefuses(WrOpcode opcode) {
    try (RcPair pair = setup().qpAccess(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE).open()) {
      assertRefused(pair, atomic(pair, opcode), WcStatus.REM_INV_REQ_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_mr_access",
      says = "a region without REMOTE_ATOMIC: REM_ACCESS_ERR")
  void regionWithoutRemoteAtomicRefuses(WrOpcode opcode) {
    try (RcPair pair = setup().bufferAccess(Side.ALL.toArray(AccessFlag[]::new)).open()) {
      assertRefused(pair, atomic(pair, opcode), WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  void regionWithOnlyRemoteAtomicAccepts(WrOpcode opcode) {
    try (RcPair pair =
        setup()
            .bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC)
            .qpAccess(AccessFlag.REMOTE_ATOMIC)
            .open()) {
      put(pair, 0);
      assertDoes(pair, atomic(pair, opcode), 0, 1);
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_non_aligned_addr",
      says = "a remote address that is not a multiple of 8: REM_INV_REQ_ERR")
  void addressThatIsNotAMultipleOfEightFails(WrOpcode opcode) {
    for (int off : new int[] {1, 2, 4, 7}) {
      try (RcPair pair = setup().open()) {
        long address = pair.right.address(THERE) + off;
        assertRefused(
            pair,
            atomic(pair, opcode, address, pair.right.buffer.rkey()),
            WcStatus.REM_INV_REQ_ERR);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_rkey",
      says = "an unknown remote key: REM_ACCESS_ERR")
  void unknownRemoteKeyFails(WrOpcode opcode) {
    try (RcPair pair = setup().open()) {
      int rkey = pair.right.buffer.rkey() ^ 1 << 24;
      assertRefused(
          pair, atomic(pair, opcode, pair.right.address(THERE), rkey), WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  void bytesBeyondTheRegionFail(WrOpcode opcode) {
    try (RcPair pair = setup().open()) {
      long end = pair.right.address(pair.right.buffer.length());
      assertRefused(
          pair, atomic(pair, opcode, end, pair.right.buffer.rkey()), WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @FieldSource("ATOMICS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_lkey",
      says = "an unknown local key: LOC_PROT_ERR")
  void unknownLocalKeyFails(WrOpcode opcode) {
    try (RcPair pair = setup().open()) {
      put(pair, 0);
      SendRequest request = atomic(pair, opcode);
      int lkey = pair.left.buffer.lkey() ^ 1 << 24;
      pair.left.qp.postSend(request.sge(pair.left.address(HERE), 8, lkey).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
      pair.left.verify("an atomic that was not sent");
    }
  }
}

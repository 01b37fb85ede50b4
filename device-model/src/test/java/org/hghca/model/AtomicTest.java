package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomics of a reliable connection through registers, rings and memory. */
class AtomicTest {
  private static final int COMPARE_SWAP = 0x11;
  private static final int FETCH_ADD = 0x12;

  /** Local write and remote atomic, table 3-2-19. */
  private static final int ACCESS = 1 | 8;

  private final Pair pair = new Pair();
  private final Host.Buffer results = pair.left.buffer(4096, Host.LOCAL);
  private final Host.Buffer target = pair.right.buffer(4096, ACCESS);

  @AfterEach
  void close() {
    pair.close();
  }

  private void connect() {
    pair.b.context.set(QueuePairContext.REMOTE_ATOMIC_ENABLE, 1);
    pair.connect();
  }

  private int add(long offset, int rkey, long value) {
    return pair.a.atomic(
        FETCH_ADD, target.address() + offset, rkey, value, 0, new Piece(results, 0, 8));
  }

  private void fails(int wqe, int syndrome) {
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, 0xff, true, 0, wqe, 0, syndrome));
  }

  private long value(long offset) {
    return target.memory().get(ValueLayout.JAVA_LONG, offset);
  }

  private long result() {
    return results.memory().get(ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void fetchAndAddIsExecutedAtThePeerAndReturnsTheOldValue() {
    connect();
    target.memory().set(ValueLayout.JAVA_LONG, 16, 0x1122_3344_5566_7788L);
    int wqe = add(16, target.key(), 0x10);
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, FETCH_ADD, true, 8, wqe, pair.b.number, 0));
    assertThat(value(16)).isEqualTo(0x1122_3344_5566_7798L);
    assertThat(result()).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(pair.b.cq.hasNext()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"5, 5, 77", "5, 6, 5"})
  void compareAndSwapStoresWhenEqual(long there, long compare, long then) {
    connect();
    target.memory().set(ValueLayout.JAVA_LONG, 0, there);
    int wqe =
        pair.a.atomic(
            COMPARE_SWAP, target.address(), target.key(), 77, compare, new Piece(results, 0, 8));
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, COMPARE_SWAP, true, 8, wqe, pair.b.number, 0));
    assertThat(value(0)).isEqualTo(then);
    assertThat(result()).isEqualTo(there);
  }

  @Test
  void atomicsOfSeveralQueuePairsAreAllCounted() {
    connect();
    Host.Qp c = pair.left.qp();
    Host.Qp d = pair.right.qp();
    d.context.set(QueuePairContext.REMOTE_ATOMIC_ENABLE, 1);
    Host.connect(pair.left, c, pair.right, d);
    for (int i = 0; i < 50; i++) {
      add(0, target.key(), 1);
      c.atomic(FETCH_ADD, target.address(), target.key(), 1, 0, new Piece(results, 8, 8));
      assertThat(pair.a.cq.take().failed()).isFalse();
      assertThat(c.cq.take().failed()).isFalse();
    }
    assertThat(value(0)).isEqualTo(100);
  }

  @Test
  void atomicThatThePeerDoesNotEnableIsInvalid() {
    pair.connect();
    fails(add(0, target.key(), 1), 0x12);
    assertThat(value(0)).isZero();
    assertThat(pair.a.state()).isEqualTo(6);
    assertThat(pair.b.state()).isEqualTo(6);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 4, 4095})
  void addressThatIsNotAMultipleOfEightIsInvalid(long offset) {
    connect();
    fails(add(offset, target.key(), 1), 0x12);
  }

  @ParameterizedTest
  @ValueSource(longs = {-8, 4096})
  void boundsAreChecked(long offset) {
    connect();
    fails(add(offset, target.key(), 1), 0x13);
  }

  @ParameterizedTest
  @CsvSource({"7, true", "8, false"})
  void memoryNeedsItsOwnPermission(int access, boolean denied) {
    connect();
    Host.Buffer other = pair.right.buffer(4096, access);
    int wqe =
        pair.a.atomic(FETCH_ADD, other.address(), other.key(), 1, 0, new Piece(results, 0, 8));
    if (denied) {
      fails(wqe, 0x13);
    } else {
      assertThat(pair.a.cq.take().failed()).isFalse();
    }
    assertThat(other.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(denied ? 0 : 1);
  }

  @Test
  void resultNeedsLocalWriteAndEightBytes() {
    connect();
    Host.Buffer readOnly = pair.left.buffer(4096, 0);
    fails(
        pair.a.atomic(FETCH_ADD, target.address(), target.key(), 1, 0, new Piece(readOnly, 0, 8)),
        0x04);
    assertThat(value(0)).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4, 16})
  void resultOfOtherThanEightBytesIsALengthError(int length) {
    connect();
    fails(
        pair.a.atomic(
            FETCH_ADD, target.address(), target.key(), 1, 0, new Piece(results, 0, length)),
        0x01);
  }

  @ParameterizedTest
  @CsvSource({"11, 1", "11, 2", "12, 1", "12, 2"})
  void workRequestWithoutItsUnitsIsAnOperationError(String opcode, int size) {
    connect();
    int wqe =
        pair.a.post(
            Integer.parseInt(opcode, 16),
            0,
            size,
            units -> RemoteAddressUnit.write(units, 0, target.address(), target.key()));
    fails(wqe, 0x02);
  }

  @Test
  void resultCannotBeInline() {
    connect();
    int wqe = pair.a.post(FETCH_ADD, 0, 4, units -> InlineUnit.writeHeader(units, 32, 8));
    fails(wqe, 0x02);
  }
}

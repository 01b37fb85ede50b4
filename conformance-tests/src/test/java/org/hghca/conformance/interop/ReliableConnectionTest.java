package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.EnumSource;

@WithEachCard
@DisplayName("RC")
class ReliableConnectionTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final int IMMEDIATE = 0x8badf00d;

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  /** Every size around the path MTU, and for the default and the largest one a mebibyte and one. */
  private static List<Integer> sizes(Mtu mtu) {
    List<Integer> sizes = EveryMtu.sizes(mtu);
    return mtu == Mtu.MTU_1024 || mtu == Mtu.MTU_4096
        ? Stream.concat(sizes.stream(), Stream.of(MEBIBYTE + 1)).toList()
        : sizes;
  }

  /** A message of each size, from one end to the other. */
  private interface Message {
    /**
     * Moves it and checks it.
     *
     * @param number odd, and another one for each message: the next one may be used, too
     */
    void move(End from, End to, int size, int number);
  }

  private void move(Mtu mtu, Asker asker, Message message) {
    try (Pair pair = Pair.connect(bench, QpType.RC, mtu, 2L * MEBIBYTE)) {
      int number = 1;
      for (int size : sizes(mtu)) {
        message.move(pair.end(asker), pair.other(asker), size, number);
        number += 2;
      }
    }
  }

  @ParameterizedTest(name = "SEND, with and without immediate, {0}, {1}")
  @ArgumentsSource(EveryMtu.class)
  void sends(Mtu mtu, Asker asker) {
    move(
        mtu,
        asker,
        (from, to, size, wr) -> {
          send(from, to, Work.send(wr, 0, size));
          send(from, to, Work.sendImmediate(wr + 1L, 0, size, IMMEDIATE));
        });
  }

  private static void send(End from, End to, Work work) {
    int seed = (int) work.wr();
    from.fill(0, work.length(), seed);
    to.receive(work.wr(), 0, work.length() + 1);
    from.send(work);
    Result received = received(to, work, Result.RECV);
    assertThat(received.wr()).isEqualTo(work.wr());
    assertThat(to.differs(0, work.length(), seed)).as("%d bytes", work.length()).isEqualTo(-1);
    sent(from, work.wr());
  }

  private static Result received(End to, Work work, int opcode) {
    List<Result> received = to.poll(1);
    assertThat(received).as("%s of %d bytes arrives", work.kind(), work.length()).hasSize(1);
    Result one = received.getFirst();
    assertThat(one.status()).as("%d bytes", work.length()).isEqualTo(WcStatus.SUCCESS);
    assertThat(one.opcode()).isEqualTo(opcode);
    assertThat(one.bytes()).isEqualTo(work.length());
    assertThat(one.immediate()).isEqualTo(work.immediate());
    return one;
  }

  private static void sent(End from, long wr) {
    List<Result> sent = from.poll(1);
    assertThat(sent).as("request %d completes", wr).hasSize(1);
    assertThat(sent.getFirst().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(sent.getFirst().wr()).isEqualTo(wr);
  }

  @ParameterizedTest(name = "WRITE, with and without immediate, {0}, {1}")
  @ArgumentsSource(EveryMtu.class)
  void writes(Mtu mtu, Asker asker) {
    move(
        mtu,
        asker,
        (from, to, size, wr) -> {
          from.fill(0, size, wr);
          from.send(Work.write(wr, 0, size, to.address() + wr, to.rkey()));
          sent(from, wr);
          assertThat(to.differs(wr, size, wr)).as("%d bytes", size).isEqualTo(-1);
          int next = wr + 1;
          from.fill(0, size, next);
          to.receive(next, 0, 0);
          Work work =
              Work.writeImmediate(next, 0, size, to.address() + next, to.rkey(), IMMEDIATE + next);
          from.send(work);
          received(to, work, Result.RECV_RDMA_WITH_IMM);
          assertThat(to.differs(next, size, next)).as("%d bytes", size).isEqualTo(-1);
          sent(from, next);
        });
  }

  @ParameterizedTest(name = "READ, {0}, {1}")
  @ArgumentsSource(EveryMtu.class)
  void reads(Mtu mtu, Asker asker) {
    move(
        mtu,
        asker,
        (from, to, size, wr) -> {
          to.fill(wr, size, wr);
          from.send(Work.read(wr, 0, size, to.address() + wr, to.rkey()));
          sent(from, wr);
          assertThat(from.differs(0, size, wr)).as("%d bytes", size).isEqualTo(-1);
        });
  }

  @ParameterizedTest(name = "compare and swap, fetch and add, {0}")
  @EnumSource(Asker.class)
  void atomics(Asker asker) {
    bench.assume(DeviceFeature.ATOMICS);
    try (Pair pair = Pair.connect(bench, QpType.RC, Mtu.MTU_1024, 4096)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      long before = 0x0123_4567_89ab_cdefL;
      to.number(64, before);
      from.send(Work.fetchAndAdd(1, 0, to.address() + 64, to.rkey(), 5));
      sent(from, 1);
      assertThat(from.number(0)).isEqualTo(before);
      assertThat(to.number(64)).isEqualTo(before + 5);
      from.send(Work.compareAndSwap(2, 8, to.address() + 64, to.rkey(), before + 5, 7));
      sent(from, 2);
      assertThat(from.number(8)).isEqualTo(before + 5);
      assertThat(to.number(64)).isEqualTo(7);
      from.send(Work.compareAndSwap(3, 16, to.address() + 64, to.rkey(), before, 9));
      sent(from, 3);
      assertThat(from.number(16)).isEqualTo(7);
      assertThat(to.number(64)).isEqualTo(7);
    }
  }
}

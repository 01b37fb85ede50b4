package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.conformance.interop.SoftRoce.Bench;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("rxe")
@EnabledIfSystemProperty(named = "hghca.lab.rxe", matches = ".+")
@ExtendWith(SoftRoce.class)
@DisplayName("RC")
class ReliableConnectionTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final int IMMEDIATE = 0x8badf00d;

  private Bench bench;

  @BeforeEach
  void open(GuestVerbs guest) {
    bench = Bench.open(guest, "");
  }

  @AfterEach
  void close() {
    bench.close();
  }

  /** Every size around the path MTU, and for the default and the largest one a mebibyte and one. */
  private static List<Integer> sizes(Mtu mtu) {
    int packet = mtu.bytes();
    List<Integer> sizes =
        List.of(0, 1, 3, 4, packet - 1, packet, packet + 1, 2 * packet, 5 * packet + 2);
    return mtu == Mtu.MTU_1024 || mtu == Mtu.MTU_4096
        ? Stream.concat(sizes.stream(), Stream.of(MEBIBYTE + 1)).toList()
        : sizes;
  }

  static Stream<Arguments> everyMtu() {
    return Stream.of(Mtu.values())
        .flatMap(mtu -> Stream.of(Asker.values()).map(asker -> Arguments.of(mtu, asker)));
  }

  @ParameterizedTest(name = "SEND, with and without immediate, {0}, {1}")
  @MethodSource("everyMtu")
  void sends(Mtu mtu, Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, mtu, 2L * MEBIBYTE)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      int wr = 0;
      for (int size : sizes(mtu)) {
        for (int immediate : new int[] {0, IMMEDIATE}) {
          wr++;
          from.fill(0, size, wr);
          to.receive(wr, 0, size + 1L);
          from.send(
              immediate == 0 ? Work.send(wr, 0, size) : Work.sendImmediate(wr, 0, size, immediate));
          List<Result> received = to.poll(1);
          assertThat(received).as("%d bytes arrive", size).hasSize(1);
          Result one = received.getFirst();
          assertThat(one.status()).as("%d bytes", size).isEqualTo(WcStatus.SUCCESS);
          assertThat(one.opcode()).isEqualTo(Result.RECV);
          assertThat(one.wr()).isEqualTo(wr);
          assertThat(one.bytes()).isEqualTo(size);
          assertThat(one.immediate()).isEqualTo(immediate);
          assertThat(to.differs(0, size, wr)).as("%d bytes", size).isEqualTo(-1);
          sent(from, wr);
        }
      }
    }
  }

  private static void sent(End from, int wr) {
    List<Result> sent = from.poll(1);
    assertThat(sent).as("request %d completes", wr).hasSize(1);
    assertThat(sent.getFirst().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(sent.getFirst().wr()).isEqualTo(wr);
  }

  @ParameterizedTest(name = "WRITE, with and without immediate, {0}, {1}")
  @MethodSource("everyMtu")
  void writes(Mtu mtu, Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, mtu, 2L * MEBIBYTE)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      int wr = 0;
      for (int size : sizes(mtu)) {
        wr++;
        from.fill(0, size, wr);
        from.send(Work.write(wr, 0, size, to.address() + wr, to.rkey()));
        sent(from, wr);
        assertThat(to.differs(wr, size, wr)).as("%d bytes", size).isEqualTo(-1);
        wr++;
        from.fill(0, size, wr);
        to.receive(wr, 0, 0);
        from.send(Work.writeImmediate(wr, 0, size, to.address() + wr, to.rkey(), IMMEDIATE + wr));
        List<Result> received = to.poll(1);
        assertThat(received).as("the immediate of %d bytes arrives", size).hasSize(1);
        Result one = received.getFirst();
        assertThat(one.status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(one.opcode()).isEqualTo(Result.RECV_RDMA_WITH_IMM);
        assertThat(one.immediate()).isEqualTo(IMMEDIATE + wr);
        assertThat(one.bytes()).isEqualTo(size);
        assertThat(to.differs(wr, size, wr)).as("%d bytes", size).isEqualTo(-1);
        sent(from, wr);
      }
    }
  }

  @ParameterizedTest(name = "READ, {0}, {1}")
  @MethodSource("everyMtu")
  void reads(Mtu mtu, Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, mtu, 2L * MEBIBYTE)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      int wr = 0;
      for (int size : sizes(mtu)) {
        wr++;
        to.fill(wr, size, wr);
        from.send(Work.read(wr, 0, size, to.address() + wr, to.rkey()));
        sent(from, wr);
        assertThat(from.differs(0, size, wr)).as("%d bytes", size).isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest(name = "compare and swap, fetch and add, {0}")
  @EnumSource(Asker.class)
  void atomics(Asker asker) {
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

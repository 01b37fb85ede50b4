package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.model.HcaCounters;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@WithEachCard
@DisplayName("RC")
class LossTest {
  private static final int ROUNDS = 30;
  private static final int BYTES = 20_000;

  /** 4.096 us x 2^16, 268 ms: eight of them outlast a pause of an emulated processor. */
  private static final int TIMEOUT = 16;

  @ParameterizedTest(name = "1 % lost and 1 % damaged, duplicated, out of order on arrival, {0}")
  @EnumSource(Asker.class)
  void lossOnArrivalIsRecovered(Asker asker, Card card, GuestVerbs guest) {
    String parameters = "&drop=0.01&corrupt=0.01&duplicate=0.01&reorder=0.01&seed=5";
    try (Bench bench = Bench.open(card, guest, parameters)) {
      traffic(bench, asker);
      assertThat(bench.hca().counters().packetsDamaged()).as(bench.counts()).isPositive();
      assertRepeated(bench);
    }
  }

  @ParameterizedTest(name = "1 % lost both ways by the guest''s kernel (netem), {0}")
  @EnumSource(Asker.class)
  void lossInTheKernelIsRecovered(Asker asker, Card card, GuestVerbs guest) {
    try (Bench bench = Bench.open(card, guest, "")) {
      String netdev = bench.netdev();
      guest.run("tc qdisc add dev %s root netem loss 1%%".formatted(netdev));
      guest.run("ip link add ifb0 type ifb");
      guest.run("ip link set ifb0 mtu 4200 up");
      guest.run("tc qdisc add dev ifb0 root netem loss 1%");
      guest.run("tc qdisc add dev %s handle ffff: ingress".formatted(netdev));
      guest.run(
          "tc filter add dev %s parent ffff: matchall action mirred egress redirect dev ifb0"
              .formatted(netdev));
      try {
        traffic(bench, asker);
      } finally {
        guest.run("tc qdisc del dev %s ingress".formatted(netdev));
        guest.run("tc qdisc del dev %s root".formatted(netdev));
        guest.run("ip link del ifb0");
      }
      assertRepeated(bench);
    }
  }

  private static void traffic(Bench bench, Asker asker) {
    try (Pair pair =
        Pair.connect(bench, QpType.RC, 4L * BYTES, options -> options.withTimeout(TIMEOUT))) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      for (int i = 0; i < ROUNDS; i++) {
        from.fill(0, BYTES, i);
        to.fill(2 * BYTES, BYTES, i + 1);
        to.receive(i, 0, BYTES);
        from.send(Work.send(1, 0, BYTES));
        from.send(Work.write(2, 0, BYTES, to.address() + BYTES, to.rkey()));
        from.send(Work.read(3, 3 * BYTES, BYTES, to.address() + 2 * BYTES, to.rkey()));
        List<Result> sent = from.poll(3);
        assertThat(sent).as("round %d; %s", i, bench.counts()).hasSize(3);
        assertThat(sent)
            .as("round %d; %s", i, bench.counts())
            .extracting(Result::status)
            .containsOnly(WcStatus.SUCCESS);
        List<Result> received = to.poll(1);
        assertThat(received).hasSize(1);
        assertThat(received.getFirst().bytes()).isEqualTo(BYTES);
        assertThat(to.differs(0, BYTES, i)).as("SEND of round %d", i).isEqualTo(-1);
        assertThat(to.differs(BYTES, BYTES, i)).as("WRITE of round %d", i).isEqualTo(-1);
        assertThat(from.differs(3 * BYTES, BYTES, i + 1)).as("READ of round %d", i).isEqualTo(-1);
      }
    }
  }

  /** Some packets must have been lost, or the test proves nothing. */
  private static void assertRepeated(Bench bench) {
    HcaCounters counters = bench.hca().counters();
    assertThat(counters.retries() + counters.naksSent() + counters.duplicates())
        .as(bench.counts())
        .isPositive();
  }
}

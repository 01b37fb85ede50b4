package org.hghca.programs.perf.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.OptionalDouble;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Statistics of samples that are worked out by hand, and their rows. */
class ResultsTest {
  private static final double EXACT = 1e-9;

  /** The times of posts whose distances are these, in nanoseconds. */
  private static long[] posts(long... distances) {
    long[] posts = new long[distances.length + 1];
    for (int i = 0; i < distances.length; i++) {
      posts[i + 1] = posts[i] + distances[i];
    }
    return posts;
  }

  @Test
  void latencyCutsTheTwoLongestAndIsHalfTheDistance() {
    // Halves in us: 3 1 2 4 90 50; without the two longest 1 2 3 4.
    LatencyResult result =
        LatencyResult.of(2, posts(6000, 2000, 4000, 8000, 180_000, 100_000), true);
    assertThat(result.iterations()).isEqualTo(7);
    assertThat(result.min()).isEqualTo(1);
    assertThat(result.max()).isEqualTo(50);
    assertThat(result.typical()).isEqualTo(2.5);
    assertThat(result.average()).isEqualTo(2.5);
    assertThat(result.deviation()).isCloseTo(Math.sqrt(1.25), within(EXACT));
    assertThat(result.p99()).isEqualTo(50);
    assertThat(result.p999()).isEqualTo(50);
    assertThat(result.samples()).containsExactly(3, 1, 2, 4, 90, 50);
    assertThat(result.sorted()).containsExactly(1, 2, 3, 4);
  }

  @Test
  void latencyOfRequestsIsTheWholeDistance() {
    LatencyResult result = LatencyResult.of(8, posts(1000, 2000, 3000, 9000, 9000), false);
    assertThat(result.typical()).isEqualTo(2);
    assertThat(result.average()).isEqualTo(2);
    assertThat(result.deviation()).isCloseTo(Math.sqrt(2.0 / 3), within(EXACT));
  }

  @Test
  void deviationKeepsFractionsOfAMicrosecond() {
    // perftest, which rounds each difference to whole microseconds, prints 0.00.
    LatencyResult result = LatencyResult.of(8, posts(1000, 1500, 1000, 1500, 9000, 9000), false);
    assertThat(result.deviation()).isCloseTo(0.25, within(EXACT));
  }

  @Test
  void messageThatIsLateHasWaitedSinceItWasDue() {
    // Due every 10 us; the second takes 35 us, and so the third and the fourth go late.
    long[] due = {0, 10_000, 20_000, 30_000, 40_000, 50_000};
    long[] answered = {2000, 45_000, 47_000, 49_000, 51_000, 52_000};
    LatencyResult result = LatencyResult.of(8, due, answered, false);
    assertThat(result.samples()).containsExactly(2, 35, 27, 19, 11, 2);
    assertThat(result.typical()).isEqualTo(6.5); // of 2 2 11 19
    assertThat(LatencyResult.of(8, due, answered, true).samples())
        .containsExactly(1, 17.5, 13.5, 9.5, 5.5, 1);
  }

  @Test
  void percentilesHaveThreeDigitsAndNothingIsCutOff() {
    double[] samples = LongStream.rangeClosed(1, 100_000).asDoubleStream().toArray();
    assertThat(Percentiles.of(samples).toJson().keySet())
        .containsExactly("50", "75", "90", "99", "99.9", "99.99", "99.999", "100");
    assertThat(Percentiles.of(samples).at(50)).isCloseTo(50_000, within(50.0));
    assertThat(Percentiles.of(samples).at(99.999)).isCloseTo(99_999, within(100.0));
    assertThat(Percentiles.of(new double[] {0.5}).at(100)).isEqualTo(0.5);
  }

  @Test
  void limits() {
    Limits limits =
        new Limits(OptionalDouble.of(100), OptionalDouble.of(1), OptionalDouble.of(4), 75);
    assertThat(limits.missedBy(new BandwidthReport(8, 10, 0, 100, 1))).isEmpty();
    assertThat(limits.missedBy(new BandwidthReport(8, 10, 0, 99.9, 0.5)))
        .containsExactly(
            "8 bytes: throughput 99.90 is below 100.00",
            "8 bytes: message rate 0.500000 is below 1.000000");
    long[] posts = posts(1000, 2000, 3000, 9000);
    assertThat(limits.missedBy(LatencyResult.of(8, posts, false))).isEmpty();
    assertThat(
            new Limits(OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.of(4), 76)
                .missedBy(LatencyResult.of(8, posts, false)))
        .singleElement()
        .asString()
        .matches("8 bytes: latency p76 9\\.\\d\\d us is above 4\\.00 us");
    assertThat(limits.missedBy(new DurationLatency(8, 10, 4.5, 1)))
        .containsExactly("8 bytes: latency average 4.50 us is above 4.00 us");
  }

  @Test
  void percentilesOfAThousand() {
    // 1 to 1002 us: 1000 after the cut; the samples at 990 and 999 are 991 and 1000 us.
    long[] distances = LongStream.rangeClosed(1, 1002).map(us -> us * 1000).toArray();
    LatencyResult result = LatencyResult.of(8, posts(distances), false);
    assertThat(result.p99()).isEqualTo(991);
    assertThat(result.p999()).isEqualTo(1000);
    assertThat(result.typical()).isEqualTo(500.5);
    assertThat(result.max()).isEqualTo(1001);
  }

  @Test
  void latencyByTime() {
    DurationLatency result = DurationLatency.of(2, 1000, 20_000_000, true);
    assertThat(result.average()).isEqualTo(10);
    assertThat(result.perSecond()).isEqualTo(50_000);
  }

  @Test
  void throughput() {
    // 1000 messages of 1 MiB in one second, the fastest of them in half a millisecond.
    BandwidthResult result = new BandwidthResult(1 << 20, 1000, 1_000_000_000, 500_000);
    assertThat(result.average(false)).isEqualTo(1000);
    assertThat(result.peak(false)).isEqualTo(2000);
    assertThat(result.average(true)).isCloseTo(8.388608, within(EXACT));
    assertThat(result.messageRate()).isEqualTo(0.001);
  }

  @Test
  void peakIsTheBestPartFromAPostToACompletion() {
    // Parts: 0-1 in 100 (50 a message), 0-3 in 180 (45), 1-3 in 170, 2-3 in 60 (30), 3-3 in 50.
    assertThat(Samples.peakNanos(new long[] {10, 20, 130, 140}, new long[] {0, 110, 0, 190}))
        .isEqualTo(30);
    // A list of two posts has one time.
    assertThat(Samples.peakNanos(new long[] {10, 0, 130, 0}, new long[] {0, 110, 0, 190}))
        .isEqualTo(30);
    assertThat(Samples.peakNanos(new long[0], new long[0])).isZero();
  }

  @Test
  void rows() {
    assertThat(Columns.row(new BandwidthReport(65536, 5000, 11000.126, 10998.5, 0.175976), false))
        .isEqualTo(" 65536      5000             11000.13            10998.50\t\t     0.175976");
    assertThat(Columns.row(new BandwidthReport(8, 1000, 0.05, 0.0421234, 0.658), true))
        .isEqualTo(" 8          1000           0.050000            0.042123            0.658000");
    assertThat(Columns.row(LatencyResult.of(2, posts(2000, 4000, 6000, 200_000, 200_000), true)))
        .isEqualTo(
            " 2       6          1.00           100.00       2.00     \t       2.00        \t0.82  "
                + " \t\t100.00  \t\t100.00 ");
    assertThat(Columns.row(new DurationLatency(2, 123, 4.5, 111_111.11)))
        .isEqualTo(" 2             123            4.50           111111.11");
    assertThat(Columns.general(1234567)).isEqualTo("1234570");
    assertThat(Columns.general(0.5)).isEqualTo("0.5");
    assertThat(Columns.general(21.3456789)).isEqualTo("21.3457");
    assertThat(Columns.general(0)).isEqualTo("0");
  }

  @Test
  void columns() {
    assertThat(Columns.bandwidth(false))
        .isEqualTo(
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]");
    assertThat(Columns.bandwidth(true))
        .isEqualTo(
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]");
    assertThat(Columns.LINE).hasSize(87);
  }
}

package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rows in every form. */
class PeersReportTest {
  static PeerRow measured(String name, Carrier carrier) {
    List<Double> streams = carrier == Carrier.DATAGRAMS ? List.of() : List.of(5000.4, 99.94);
    return new PeerRow.Measured(name, 1.234, 56.78, 800_000, streams, 0, true);
  }

  private static final PeersReport REPORT =
      new PeersReport(
          Map.of("kernel", "k"),
          Table.MESSAGES,
          List.of(
              measured("a", Carrier.TCP),
              measured("b", Carrier.DATAGRAMS),
              new PeerRow.Measured("c", 1, 2, 3, List.of(3.0, 4.0), 5, false),
              new PeerRow.Unmeasured("d", "no x | y", false)));

  @Test
  void textHasALineForEachRow() {
    assertThat(REPORT.text().lines())
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .matches(
                        "row +round trip p50\\[us] +p99\\[us] +64 KiB\\[MB/s] +1 MiB\\[MB/s]"
                            + " +processor a message\\[us]"),
            line -> assertThat(line).matches("a +1\\.23 +56\\.8 +5,000 +99\\.9 +0\\.00"),
            line -> assertThat(line).matches("b +1\\.23 +56\\.8 +- +- +0\\.00"),
            line ->
                assertThat(line)
                    .matches(
                        "c +1\\.00 +2\\.00 +3\\.00 +4\\.00 +5\\.00   its compilers still worked"),
            line -> assertThat(line).matches("d +not measured: no x \\| y"));
  }

  @Test
  void markdownIsATableWithUnits() {
    assertThat(REPORT.markdown())
        .isEqualTo(
            """
            | | round trip p50 | p99 | 64 KiB | 1 MiB | processor a message |
            |---|---:|---:|---:|---:|---:|
            | a | 1.23 us | 56.8 us | 5,000 MB/s | 99.9 MB/s | 0.00 us |
            | b | 1.23 us | 56.8 us | - | - | 0.00 us |
            | c | 1.00 us | 2.00 us | 3.00 MB/s | 4.00 MB/s | 5.00 us |
            | d | no x \\| y |  |  |  |  |\
            """);
  }

  @Test
  void tableOfSocketsHasRoundTripsASecondAndStreamsOfOneSize() {
    PeerRow row = new PeerRow.Measured("a", 1, 2, 456_789.1, List.of(4000.0), 0.5, true);
    PeerRow crowd = new PeerRow.Measured("b", 3, 4, 5, List.of(), 0.5, true);
    assertThat(new PeersReport(Map.of(), Table.SOCKETS, List.of(row, crowd)).markdown())
        .isEqualTo(
            """
            | | round trip p50 | p99 | round trips | 64 KiB | processor a message |
            |---|---:|---:|---:|---:|---:|
            | a | 1.00 us | 2.00 us | 456,789 /s | 4,000 MB/s | 0.50 us |
            | b | 3.00 us | 4.00 us | 5.00 /s | - | 0.50 us |\
            """);
  }

  @Test
  void rowsReadBackAreTheSame() {
    for (PeerRow row : REPORT.rows()) {
      assertThat(PeerRow.of(row.toJson())).isEqualTo(row);
    }
  }

  @Test
  void rowWithoutMeansIsNoFailure() {
    assertThat(REPORT.isGood()).isTrue();
    PeerRow failed = new PeerRow.Unmeasured("e", "broken", true);
    assertThat(new PeersReport(Map.of(), Table.MESSAGES, List.of(failed)).isGood()).isFalse();
  }
}

package org.hghca.programs.perf.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BandwidthReportTest {
  @Test
  void valuesAreBigEndian() {
    BandwidthReport report = new BandwidthReport(65536, 5000, 1.0, -2.0, 0.5);
    byte[][] messages = report.toMessages();
    assertThat(Stream.of(messages).map(HexFormat.of()::formatHex))
        .containsExactly(
            "0000000000010000",
            "0000000000001388",
            "3ff0000000000000",
            "c000000000000000",
            "3fe0000000000000");
    assertThat(BandwidthReport.parse(messages)).isEqualTo(report);
  }
}

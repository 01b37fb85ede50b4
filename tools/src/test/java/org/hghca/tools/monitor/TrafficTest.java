package org.hghca.tools.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.linux.TerminalSize;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.tools.monitor.Traffic.Flow;
import org.hghca.tools.monitor.Traffic.Order;
import org.hghca.tools.monitor.Traffic.Use;
import org.junit.jupiter.api.Test;

/** What a second has seen, and the table of it. */
class TrafficTest {

  private static Row queuePair(int number, long sent, long received, long failures) {
    return new Row(
        new Subject(Kind.QUEUE_PAIR, 1, number, 0, "RC", "RTS", "192.0.2.7", 0x99),
        Map.of(
            "sent_bytes",
            sent,
            "received_bytes",
            received,
            "sends_posted",
            sent / 10,
            "failures",
            failures));
  }

  private static Found program(long pid, long time, Row... queuePairs) {
    List<Row> rows = new ArrayList<>(List.of(queuePairs));
    long sent = rows.stream().mapToLong(row -> row.value("sent_bytes")).sum();
    rows.add(
        new Row(
            Subject.of(Kind.CONTEXT, 1, 0, ""),
            Map.of("sent_bytes", sent, "failures", 4L, "pinned_bytes", 1_500_000L)));
    return new Found(
        new Snapshot(new Program(pid, 1, "program" + pid), "hghca0", "model:", time, rows), true);
  }

  @Test
  void ratesAreBetweenTwoSnapshots() {
    Traffic traffic = new Traffic(true);
    assertThat(
            traffic
                .measure(List.of(program(1, 1000, queuePair(5, 100, 50, 0))), Order.traffic)
                .getFirst()
                .flow())
        .as("the first")
        .isEqualTo(Flow.NONE);
    Use second =
        traffic
            .measure(List.of(program(1, 1500, queuePair(5, 1100, 250, 0))), Order.traffic)
            .getFirst();
    assertThat(second.flow().sent()).isEqualTo(2000);
    assertThat(second.connections().getFirst().flow()).isEqualTo(new Flow(2000, 400, 200));
    Use same =
        traffic
            .measure(List.of(program(1, 1500, queuePair(5, 1100, 250, 0))), Order.traffic)
            .getFirst();
    assertThat(same.connections().getFirst().flow())
        .as("the same snapshot again")
        .isEqualTo(new Flow(2000, 400, 200));
    Use idle =
        traffic
            .measure(List.of(program(1, 2500, queuePair(5, 1100, 250, 0))), Order.traffic)
            .getFirst();
    assertThat(idle.connections().getFirst().flow()).isEqualTo(Flow.NONE);
  }

  @Test
  void anotherProcessOfTheSameNumberBeginsAnew() {
    Traffic traffic = new Traffic(true);
    traffic.measure(List.of(program(1, 1000, queuePair(5, 900, 0, 0))), Order.traffic);
    Found other = program(1, 2000, queuePair(5, 100, 0, 0));
    Snapshot was = other.snapshot();
    Found later =
        new Found(
            new Snapshot(new Program(1, 2, "x"), was.device(), "", was.time(), was.rows()), true);
    assertThat(traffic.measure(List.of(later), Order.traffic).getFirst().flow())
        .isEqualTo(Flow.NONE);
  }

  @Test
  void mostComesFirst() {
    List<Found> programs =
        List.of(
            program(1, 1, queuePair(1, 10, 0, 9), queuePair(2, 20, 0, 0)),
            program(2, 1, queuePair(3, 500, 0, 0)));
    List<Use> uses = new Traffic(false).measure(programs, Order.traffic);
    assertThat(uses)
        .extracting(use -> use.found().snapshot().program().pid())
        .containsExactly(2L, 1L);
    assertThat(uses.get(1).connections())
        .extracting(one -> one.subject().number())
        .containsExactly(2, 1);
    assertThat(
            new Traffic(false)
                .measure(programs, Order.errors).stream()
                    .filter(use -> use.connections().size() == 2)
                    .findFirst()
                    .orElseThrow()
                    .connections())
        .extracting(one -> one.subject().number())
        .containsExactly(1, 2);
  }

  @Test
  void tableFitsItsWidth() {
    List<Use> uses =
        new Traffic(false)
            .measure(
                List.of(program(1234567, 1, queuePair(5, 123_456_789_012L, 999, 3))),
                Order.traffic);
    for (int width = 40; width < 200; width++) {
      int most = width;
      List<String> lines = new TopTable(width, true).lines(uses);
      assertThat(lines)
          .hasSize(3)
          .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(most));
      assertThat(lines.get(2)).contains("1234567", "0x000005", "123G");
    }
    assertThat(new TopTable(200, true).lines(uses).get(2)).contains("RC", "RTS", "192.0.2.7");
    assertThat(new TopTable(40, true).lines(uses).getFirst()).doesNotContain("PEER");
  }

  @Test
  void pictureFitsItsScreen() {
    List<Use> uses =
        new Traffic(true).measure(List.of(program(1, 1, queuePair(5, 1, 1, 0))), Order.traffic);
    String text = new Screen(new TerminalSize(4, 60)).text(uses, "nobody");
    assertThat(text).startsWith("\033[H").endsWith("\033[J");
    assertThat(text.lines().filter(line -> line.endsWith("\033[K"))).hasSize(3);
    assertThat(new Screen(new TerminalSize(4, 60)).text(List.of(), "nobody")).contains("nobody");
  }

  @Test
  void numbersAreScaled() {
    assertThat(TopTable.scaled(0)).isEqualTo("0");
    assertThat(TopTable.scaled(999.4)).isEqualTo("999");
    assertThat(TopTable.scaled(999.6)).isEqualTo("1.00k");
    assertThat(TopTable.scaled(12_345)).isEqualTo("12.3k");
    assertThat(TopTable.scaled(1e9)).isEqualTo("1.00G");
    assertThat(TopTable.scaled(Long.MAX_VALUE)).isEqualTo("9.22E");
  }
}

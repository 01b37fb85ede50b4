package org.hghca.provider.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.verbs.Counter;
import org.junit.jupiter.api.Test;

/** The busiest have rows of their own, and nothing is lost of the others. */
class DeviceRowsTest {
  private final SnapshotEncoder encoder = new SnapshotEncoder(SampleSnapshots.PROGRAM, "d", "l");
  private final DeviceRows rows = new DeviceRows(encoder);

  private static final class Queue implements Published {
    private final int number;
    private long sends;

    Queue(int number) {
      this.number = number;
    }

    @Override
    public Kind kind() {
      return Kind.QUEUE_PAIR;
    }

    @Override
    public Subject subject() {
      return new Subject(kind(), 1, number, 0, "RC", "RTS", "", 0);
    }

    @Override
    public void addTo(Tally sum) {
      sum.add(Counter.SENDS_POSTED, sends);
      sum.add(Counter.SENT_BYTES, 10 * sends);
    }
  }

  private List<Row> write(List<Queue> queues) throws IOException {
    encoder.begin();
    rows.write(List.copyOf(queues));
    return Snapshot.of(encoder.end(1)).rows();
  }

  @Test
  void upToAThousandHaveRowsInTheirOrder() throws IOException {
    List<Queue> queues = new ArrayList<>();
    for (int i = 0; i < DeviceRows.MOST; i++) {
      queues.add(new Queue(i));
      queues.get(i).sends = i % 7;
    }
    List<Row> written = write(queues);
    assertThat(written).hasSize(1000).noneMatch(row -> row.subject().others() > 0);
    for (int i = 0; i < 1000; i++) {
      assertThat(written.get(i).subject().number()).isEqualTo(i);
      assertThat(written.get(i).value("sends_posted")).isEqualTo(i % 7);
    }
  }

  @Test
  void ofMoreThoseThatDidMostSinceTheLastTimeHaveThem() throws IOException {
    List<Queue> queues = new ArrayList<>();
    for (int i = 0; i < 1500; i++) {
      queues.add(new Queue(i));
      queues.get(i).sends = i < 500 ? 1_000_000 : 1;
    }
    assertThat(write(queues).subList(0, 500)).allMatch(row -> row.value("sends_posted") > 1);
    queues.subList(500, 1500).forEach(queue -> queue.sends += 5); // the others rest

    List<Row> written = write(queues);

    assertThat(written).hasSize(1001);
    assertThat(written.subList(0, 1000))
        .allMatch(row -> row.value("sends_posted") == 6 && row.subject().number() >= 500);
    Row others = written.getLast();
    assertThat(others.subject()).isEqualTo(Subject.others(Kind.QUEUE_PAIR, 500));
    assertThat(others.value("sends_posted")).isEqualTo(500_000_000L);
    assertThat(others.value("sent_bytes")).isEqualTo(5_000_000_000L);
  }
}

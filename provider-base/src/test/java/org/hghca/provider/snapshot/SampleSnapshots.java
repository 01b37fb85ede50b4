package org.hghca.provider.snapshot;

import java.nio.ByteBuffer;
import java.util.Map;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.verbs.Counter;

/** Snapshots in which every number is another one. */
final class SampleSnapshots {
  static final Program PROGRAM = new Program(4711, 1_700_000_000_123L, "sample \"one\"\\");
  static final String DEVICE = "model:a";
  static final String LOCATOR = "model:a?net=shm:lab";
  static final long TIME = 1_700_000_001_456L;
  static final Subject QUEUE_PAIR =
      new Subject(Kind.QUEUE_PAIR, 3, 0x11, 0, "RC", "RTS", "192.0.2.1", 0xabcdef);

  private SampleSnapshots() {}

  /** Counters from a number on, in their order. */
  static Tally tally(long first) {
    Tally tally = new Tally();
    for (Counter counter : Counter.values()) {
      tally.add(counter, first + counter.ordinal());
    }
    return tally;
  }

  static ByteBuffer encoded() {
    return encoded(new SnapshotEncoder(PROGRAM, DEVICE, LOCATOR), 0);
  }

  /** The next snapshot of an encoder, whose numbers begin so much higher. */
  static ByteBuffer encoded(SnapshotEncoder encoder, long more) {
    encoder.begin();
    encoder.row(Subject.of(Kind.CONTEXT, 3, 0, ""), tally(more + 1000));
    encoder.row(QUEUE_PAIR, tally(more + 2000));
    encoder.row(Subject.others(Kind.QUEUE_PAIR, 7), tally(more + 3000));
    encoder.row(Subject.of(Kind.COMPLETION_QUEUE, 3, 0x21, ""), tally(more + 4000));
    encoder.ports(
        Map.of("port_packets_sent", more + 5000, "port_duplicates", more + 5001, "link_x", 1L));
    return encoder.end(TIME + more);
  }
}

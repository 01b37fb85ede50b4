package org.hghca.vfio.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TraceRingTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final TraceKind KIND = TraceKind.data("number", r -> TraceText.of("a", "b"));
  private static final int SLOTS = 64;

  private final TraceRing ring = new TraceRing(SLOTS);

  private void write(long number) {
    ring.write(KIND.number(), number, number, number, number, number, number);
  }

  @Test
  void recordHasWhatWasWritten() {
    ring.write(KIND.number(), 1, 2, 3, 4, 5, 6);

    List<TraceRecord> records = new ArrayList<>();
    assertThat(ring.read(records::add)).isZero();
    assertThat(records).containsExactly(new TraceRecord(KIND, 1, 2, 3, 4, 5, 6));
  }

  @Test
  void newestAreKeptAndTheOthersCounted() {
    for (int i = 0; i < 3 * SLOTS + 5; i++) {
      write(i);
    }

    List<Long> numbers = new ArrayList<>();
    assertThat(ring.read(record -> numbers.add(record.first()))).isEqualTo(2 * SLOTS + 5);
    assertThat(numbers).hasSize(SLOTS).startsWith(2 * SLOTS + 5L).endsWith(3 * SLOTS + 4L);
  }

  @Test
  void whatIsReadWhileThreadsWriteIsWhole() throws InterruptedException {
    List<Thread> writers = new ArrayList<>();
    for (int k = 0; k < 2; k++) {
      long from = k * 1_000_000L;
      writers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (long i = 0; i < 300_000; i++) {
                      write(from + i);
                    }
                  }));
    }
    List<TraceRecord> torn = new ArrayList<>();
    long read = 0;
    boolean last;
    do {
      last = writers.stream().noneMatch(Thread::isAlive);
      List<TraceRecord> records = new ArrayList<>();
      long _ = ring.read(records::add);
      read = records.size();
      records.stream().filter(r -> !isWhole(r)).forEach(torn::add);
    } while (!last);
    for (Thread writer : writers) {
      writer.join();
    }

    assertThat(torn).isEmpty();
    assertThat(read).as("of a ring at rest").isEqualTo(SLOTS);
  }

  private static boolean isWhole(TraceRecord r) {
    return r.begin() == r.end()
        && r.begin() == r.first()
        && r.begin() == r.second()
        && r.begin() == r.third()
        && r.begin() == r.fourth();
  }

  /** The first rounds load classes and link call sites. */
  @Test
  void recordingAllocatesNothing() {
    DeviceTrace trace = new DeviceTrace("fake:card");
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20 && least != 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        trace.record(KIND, i, i, i, i);
        trace.span(KIND, i, i, i, i, i);
      }
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(least).isZero();
  }
}

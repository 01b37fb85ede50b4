package org.hghca.vfio.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
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

  /** A ring so small that its slots are written anew while they are read. */
  @Test
  void whatIsReadWhileAThreadWritesIsWhole() throws InterruptedException {
    TraceRing small = new TraceRing(2);
    AtomicBoolean enough = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (long i = 0; !enough.get(); i++) {
                    small.write(KIND.number(), i, i, i, i, i, i);
                  }
                });
    List<TraceRecord> torn = new ArrayList<>();
    AtomicLong whole = new AtomicLong();
    try {
      for (int i = 0; i < 1_000_000; i++) {
        long _ =
            small.read(
                record -> {
                  if (isWhole(record)) {
                    whole.incrementAndGet();
                  } else {
                    torn.add(record);
                  }
                });
      }
    } finally {
      enough.set(true);
      writer.join();
    }

    assertThat(torn.size()).isZero();
    assertThat(whole).as("records that were read").hasPositiveValue();
  }

  @Test
  void threadsDoNotTakeEachOthersSlots() throws InterruptedException {
    int each = 30_000;
    TraceRing large = new TraceRing(1 << 16);
    List<Thread> writers = new ArrayList<>();
    for (int k = 0; k < 2; k++) {
      long from = (long) k * each;
      writers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (long i = from; i < from + each; i++) {
                      large.write(KIND.number(), i, i, i, i, i, i);
                    }
                  }));
    }
    for (Thread writer : writers) {
      writer.join();
    }

    List<Long> numbers = new ArrayList<>();
    assertThat(large.read(record -> numbers.add(record.first()))).isZero();
    assertThat(numbers).hasSize(2 * each).doesNotHaveDuplicates();
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

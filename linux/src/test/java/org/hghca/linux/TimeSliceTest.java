package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class TimeSliceTest {
  private static final SystemCalls LINUX = Linux.system();

  /** Policy, nice and slice of the calling thread. */
  private record Scheduling(int policy, int nice, long slice) {
    static Scheduling get() {
      MemorySegment attributes = Arena.ofAuto().allocate(48, 8);
      assertThat(LINUX.schedulingAttributes(attributes)).isZero();
      return new Scheduling(
          attributes.get(ValueLayout.JAVA_INT, 4),
          attributes.get(ValueLayout.JAVA_INT, 16),
          attributes.get(ValueLayout.JAVA_LONG, 24));
    }
  }

  @Test
  void threadHasItsOwnSliceAndKeepsTheRest() throws Exception {
    Scheduling before = Scheduling.get();
    CompletableFuture<Scheduling> other = new CompletableFuture<>();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  assertThat(TimeSlice.set(LINUX, 200_000)).isTrue();
                  other.complete(Scheduling.get());
                });
    thread.join();
    // Linux tells and takes slices from 6.12 on; before, there is none.
    long expected = before.slice() == 0 ? 0 : 200_000;
    assertThat(other.get()).isEqualTo(new Scheduling(before.policy(), before.nice(), expected));
    assertThat(Scheduling.get()).isEqualTo(before);
  }
}

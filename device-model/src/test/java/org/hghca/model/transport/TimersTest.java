package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimersTest {

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void earliestTimerIsAlwaysTheNext(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Timers timers = new Timers();
    Timers.Timer[] all = new Timers.Timer[50];
    Arrays.setAll(all, any -> new Timers.Timer(0));
    for (int i = 0; i < 20_000; i++) {
      Timers.Timer timer = all[random.nextInt(all.length)];
      if (random.nextInt(3) > 0) {
        timers.set(timer, random.nextInt(100_000));
      } else {
        timers.clear(timer);
      }
      long earliest = Arrays.stream(all).mapToLong(Timers.Timer::deadline).min().orElseThrow();
      assertThat(timers.next()).isEqualTo(earliest);
      if (random.nextInt(10) == 0 && earliest != Timers.NEVER) {
        assertThat(timers.takeDue(earliest - 1)).isNull();
        Timers.Timer due = timers.takeDue(earliest);
        assertThat(due.deadline()).isEqualTo(Timers.NEVER);
        assertThat(timers.takeDue(earliest)).isNotSameAs(due);
      }
    }
  }
}

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
    Endpoint[] endpoints = new Endpoint[50];
    Arrays.setAll(endpoints, qpn -> new Endpoint(qpn, Service.RC, null));
    for (int i = 0; i < 20_000; i++) {
      Endpoint endpoint = endpoints[random.nextInt(endpoints.length)];
      if (random.nextInt(3) > 0) {
        timers.set(endpoint, random.nextInt(100_000));
      } else {
        timers.clear(endpoint);
      }
      long earliest = Arrays.stream(endpoints).mapToLong(e -> e.deadline).min().orElseThrow();
      assertThat(timers.next()).isEqualTo(earliest);
      if (random.nextInt(10) == 0 && earliest != Timers.NEVER) {
        assertThat(timers.takeDue(earliest - 1)).isNull();
        Endpoint due = timers.takeDue(earliest);
        assertThat(due.deadline).isEqualTo(Timers.NEVER);
        assertThat(due.timerIndex).isEqualTo(-1);
      }
    }
  }
}

package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.Collections;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.Test;

public class SpinLockTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 50_000;

  private final SpinLock lock = new SpinLock(LockRank.COMPLETIONS);
  private int counter;

  @Test
  public void oneThreadAtATimeHasTheLock() throws InterruptedException {
    int[] rounds = Racers.race(ROUNDS, Collections.nCopies(THREADS, this::count));
    assertThat(counter).isEqualTo(Arrays.stream(rounds).sum());
  }

  /** Sometimes another thread gets the processor in the middle. */
  private void count(int round) {
    lock.lock();
    try {
      int before = counter;
      if (round % 64 == 0) {
        Thread.yield();
      }
      counter = before + 1;
    } finally {
      lock.unlock();
    }
  }

  @Test
  void locksMustBeTakenInTheOrderOfTheirRanks() {
    assumeTrue(SpinLock.class.desiredAssertionStatus());
    SpinLock receives = new SpinLock(LockRank.RECEIVES);
    SpinLock sends = new SpinLock(LockRank.SENDS);
    receives.lock();
    lock.lock();
    sends.lock();
    sends.unlock();
    receives.unlock();
    assertThatThrownBy(receives::lock)
        .isInstanceOf(AssertionError.class)
        .hasMessage("a lock of RECEIVES is taken under one of COMPLETIONS");
    assertThatThrownBy(new SpinLock(LockRank.COMPLETIONS)::lock).isInstanceOf(AssertionError.class);
    lock.unlock();
    receives.lock();
    receives.unlock();
  }
}

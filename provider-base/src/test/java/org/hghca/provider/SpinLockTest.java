package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

public class SpinLockTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 50_000;

  private final SpinLock lock = new SpinLock();
  private int counter;

  @Test
  public void letsOneThreadInAtATime() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      threads.add(Thread.ofPlatform().start(this::count));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(counter).isEqualTo(THREADS * ROUNDS);
  }

  private void count() {
    for (int i = 0; i < ROUNDS; i++) {
      lock.lock();
      try {
        counter++;
      } finally {
        lock.unlock();
      }
    }
  }
}

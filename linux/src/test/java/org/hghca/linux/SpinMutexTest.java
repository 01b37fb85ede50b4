package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpinMutexTest {
  private static final int ROUNDS = 100_000;

  private final SpinMutex mutex = new SpinMutex();
  private int counted;

  @Test
  void oneThreadAtATime() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Runnable counts =
          () -> {
            for (int j = 0; j < ROUNDS; j++) {
              mutex.lock();
              counted++;
              mutex.unlock();
            }
          };
      threads.add(
          i % 2 == 0 ? Thread.ofPlatform().start(counts) : Thread.ofVirtual().start(counts));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(counted).isEqualTo(4 * ROUNDS);
  }

  /** A waiter of a monitor is blocked, one that parks waits: its carrier runs others. */
  @Test
  void virtualThreadThatWaitsStaysOnItsCarrier() throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    mutex.lock();
    Thread waiter =
        Thread.startVirtualThread(
            () -> {
              started.countDown();
              mutex.lock();
              mutex.unlock();
            });
    started.await();
    Set<Thread.State> states = EnumSet.noneOf(Thread.State.class);
    for (int i = 0; i < 10_000; i++) {
      states.add(waiter.getState());
      SpinMutex.yieldProcessor();
    }
    mutex.unlock();
    waiter.join();
    assertThat(states).containsExactly(Thread.State.RUNNABLE);
  }
}

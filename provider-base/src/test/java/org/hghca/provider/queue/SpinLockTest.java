package org.hghca.provider.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
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

  /** Waiters that are virtual threads must not keep the owner, one as well, from its carrier. */
  @Test
  void virtualOwnerThatWaitsGetsItsCarrierBack() throws InterruptedException {
    int waiters = 8 * Runtime.getRuntime().availableProcessors();
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    CountDownLatch waiting = new CountDownLatch(waiters);
    List<Thread> threads = new ArrayList<>();
    threads.add(
        Thread.startVirtualThread(
            () -> {
              lock.lock();
              taken.countDown();
              awaitUnderLock(mayGoOn);
              lock.unlock();
            }));
    taken.await();
    for (int i = 0; i < waiters; i++) {
      boolean interrupted = i % 2 == 1;
      threads.add(
          Thread.startVirtualThread(
              () -> {
                if (interrupted) {
                  Thread.currentThread().interrupt();
                }
                waiting.countDown();
                lock.lock();
                counter += Thread.currentThread().isInterrupted() == interrupted ? 1 : 0;
                lock.unlock();
              }));
    }
    waiting.await();
    mayGoOn.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(counter).as("waiters with the interrupt that they had").isEqualTo(waiters);
  }

  private static void awaitUnderLock(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
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

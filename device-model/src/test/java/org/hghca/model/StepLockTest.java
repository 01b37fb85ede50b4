package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepLockTest {
  private final StepLock lock = new StepLock();

  @Test
  void lockIsNotTakenForAStepInsideAStep() {
    assertThat(lock.tryLockForStep()).isTrue();
    assertThat(lock.tryLockForStep()).isFalse();
    lock.unlock();
    assertThat(lock.isHeldHere()).isFalse();
    assertThat(lock.tryLockForStep()).isTrue();
  }

  @Test
  void interruptedThreadTakesItLikeAnyOther() throws InterruptedException {
    AtomicBoolean passed = new AtomicBoolean();
    lock.lockForStep();
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  Thread.currentThread().interrupt();
                  lock.lock();
                  lock.unlock();
                  lock.lockForStep();
                  lock.unlock();
                  assertThat(lock.tryLockForStep()).isTrue();
                  lock.unlock();
                  passed.set(Thread.interrupted());
                });
    while (!lock.isWaitedFor()) {
      Thread.onSpinWait();
    }
    lock.unlock();
    waiter.join();
    assertThat(passed).as("it is still interrupted").isTrue();
  }

  @Test
  void waiterPrecedesTheNextStep() throws InterruptedException {
    for (int i = 0; i < 1000; i++) {
      lock.lockForStep();
      CountDownLatch done = new CountDownLatch(1);
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    lock.lock();
                    done.countDown();
                    lock.unlock();
                  });
      while (!lock.isWaitedFor()) {
        Thread.onSpinWait();
      }
      lock.unlock();
      boolean first = lock.tryLockForStep();
      // It may have had its turn between the two.
      assertThat(first && done.getCount() > 0).isFalse();
      if (first) {
        lock.unlock();
      }
      waiter.join();
    }
  }

  @Test
  void waiterPrecedesAStepThatWaitedBefore() throws InterruptedException {
    int inTime = 0;
    for (int i = 0; i < 50; i++) {
      AtomicBoolean stepped = new AtomicBoolean();
      AtomicBoolean overtaken = new AtomicBoolean();
      AtomicLong had = new AtomicLong();
      lock.lockForStep();
      Thread step =
          Thread.ofPlatform()
              .start(
                  () -> {
                    lock.lockForStep();
                    stepped.set(true);
                    lock.unlock();
                  });
      while (step.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    lock.lock();
                    had.set(System.nanoTime());
                    overtaken.set(stepped.get());
                    lock.unlock();
                  });
      while (!lock.isWaitedFor()) {
        Thread.onSpinWait();
      }
      long free = System.nanoTime();
      lock.unlock();
      step.join();
      waiter.join();
      // A thread without a processor for 10 ms is not waited for.
      if (had.get() - free < 10_000_000) {
        inTime++;
        assertThat(overtaken).isFalse();
      }
    }
    assertThat(inTime).isPositive();
  }

  @Test
  void virtualThreadThatWaitsWithoutACarrierDoesNotBlockSteps() throws InterruptedException {
    int carriers =
        Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger spinning = new AtomicInteger();
    CountDownLatch taken = new CountDownLatch(1);
    lock.lockForStep();
    Thread.startVirtualThread(
        () -> {
          lock.lock();
          taken.countDown();
          lock.unlock();
        });
    while (!lock.isWaitedFor()) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < carriers; i++) {
      Thread.startVirtualThread(
          () -> {
            spinning.getAndIncrement();
            while (!over.get()) {
              Thread.onSpinWait();
            }
          });
    }
    while (spinning.get() < carriers) {
      Thread.onSpinWait();
    }
    lock.unlock();
    for (int i = 0; i < 3; i++) {
      lock.lockForStep();
      lock.unlock();
    }
    over.set(true);
    assertThat(taken.await(30, TimeUnit.SECONDS)).isTrue();
  }
}

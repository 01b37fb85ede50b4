package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.Waits.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A threaded simulation when several threads want its lock, or its thread is about to sleep: no
 * work is overlooked or late.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepHandoverTest {
  private static final int PAGE = 4096;
  private static final int ROUNDS = 10_000;

  /** A queue pair that does not exist. */
  private static final int NOBODY = 0x3ff0;

  /** Bytes of contexts, work requests and table entries of a store, beside its payload. */
  private static final int TABLES = 64 * 1024;

  /**
   * The ringing thread has done all the work, and no other thread would check before the deadline.
   */
  @Test
  void deadlineIsKeptWhileTheThreadSleeps() {
    for (int i = 0; i < 5; i++) {
      try (Host host = Host.open("model:deadline").bringUp()) {
        Host.Qp qp = host.qp();
        qp.peer(host, qp);
        qp.context
            .set(QueuePairContext.REMOTE_QPN, NOBODY)
            .set(QueuePairContext.ACK_TIMEOUT, 8)
            .set(QueuePairContext.RETRY_COUNT, 0);
        qp.toRts();
        Host.Buffer buffer = host.buffer(PAGE, Host.ALL);
        await(StepHandoverTest::loopSleeps);
        qp.write(buffer, 0, new Host.Piece(buffer, 8, 8));
        assertThat(await(qp.cq).failed()).isTrue();
      }
    }
  }

  private static boolean loopSleeps() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(CallerRunsTest::isLoop)
        .allMatch(loop -> loop.getState() == Thread.State.WAITING);
  }

  @Test
  void lockIsGrantedAfterOneStepOfARingingThread() throws InterruptedException {
    comesAfterOneStep(Tap.here(), 1);
  }

  @Test
  void lockIsGrantedAfterOneStepOfTheThread() throws InterruptedException {
    comesAfterOneStep(Tap.elsewhere(), 4);
  }

  /** Within a step one thread requests the lock; counts the bytes read before it is granted. */
  private void comesAfterOneStep(Tap tap, int messages) throws InterruptedException {
    try (TwoHosts hosts =
        new TwoHosts(
            tap.open("model:stream?cable=stream"),
            Host.open("model:sink?cable=stream"),
            255 * PAGE)) {
      Simulation simulation = hosts.left().hca().simulation();
      int inTime = 0;
      for (int i = 0; i < 20; i++) {
        AtomicLong before = new AtomicLong();
        AtomicLong after = new AtomicLong();
        AtomicLong waited = new AtomicLong();
        AtomicReference<Thread> steps = new AtomicReference<>();
        CountDownLatch finished = new CountDownLatch(1);
        tap.hook =
            (_, bytes) -> {
              if (bytes == PAGE && steps.compareAndSet(null, Thread.currentThread())) {
                before.set(tap.bytesRead.get());
                Thread.ofPlatform()
                    .start(
                        () -> {
                          simulation.exclusively(
                              () -> {
                                after.set(tap.bytesRead.get());
                                waited.getAndAdd(System.nanoTime());
                              });
                          finished.countDown();
                        });
                await(simulation.lock()::isWaitedFor);
                waited.getAndAdd(-System.nanoTime());
              }
            };
        if (messages == 1) {
          hosts.write();
        } else {
          // All of them before the first step.
          simulation.exclusively(() -> IntStream.range(0, messages).forEach(_ -> hosts.write()));
        }
        finished.await();
        // A thread without a processor for 10 ms is not waited for.
        if (waited.get() < 10_000_000) {
          inTime++;
          int packets = CallerRunsTest.isLoop(steps.get()) ? 256 : 8;
          assertThat(after.get() - before.get()).isLessThanOrEqualTo(packets * PAGE + TABLES);
        }
        for (int open = messages; open > 0; open--) {
          assertThat(await(hosts.cq()).failed()).isFalse();
        }
      }
      assertThat(inTime).isPositive();
    }
  }

  /** One thread is in a step when another rings at an independent HCA. */
  @Test
  void workRungDuringAStepOfARingingThreadIsDone() throws InterruptedException {
    isSeenBehindAStepOf(Tap.here());
  }

  @Test
  void workRungDuringAStepOfTheThreadIsDone() throws InterruptedException {
    isSeenBehindAStepOf(Tap.elsewhere());
  }

  private void isSeenBehindAStepOf(Tap tap) throws InterruptedException {
    try (Host busy = tap.open("model:busy").bringUp();
        Host alone = Host.open("model:alone").bringUp()) {
      Loopback first = new Loopback(busy);
      Loopback second = new Loopback(alone);
      AtomicBoolean once = new AtomicBoolean();
      tap.hook =
          (_, _) -> {
            if (once.getAndSet(false)) {
              Waits.join(Thread.ofPlatform().start(second::write));
            }
          };
      for (int i = 0; i < 200; i++) {
        once.set(true);
        first.write();
        await(first.qp.cq);
        await(second.qp.cq);
        assertThat(once).as("it was rung in a step").isFalse();
      }
    }
  }

  @Test
  void workRungWhileTheLockIsTakenOtherwiseIsDone() {
    try (Host host = Host.open("model:taken").bringUp()) {
      Loopback loopback = new Loopback(host);
      for (int i = 0; i < 200; i++) {
        host.hca()
            .simulation()
            .exclusively(() -> Waits.join(Thread.ofPlatform().start(loopback::write)));
        await(loopback.qp.cq);
      }
    }
  }

  /**
   * Two threads ring at HCAs of their own at the same time, and one wants the lock: each finds it
   * taken or free. No other work happens until both messages are complete, and there are no timers:
   * overlooked work is never done.
   */
  @Test
  void noWorkIsOverlookedBetweenThreads() throws InterruptedException {
    try (Host left = Host.open("model:race").bringUp();
        Host right = Host.open("model:racer").bringUp()) {
      Loopback a = new Loopback(left);
      Loopback b = new Loopback(right);
      Simulation simulation = left.hca().simulation();
      AtomicInteger begun = new AtomicInteger();
      AtomicInteger ended = new AtomicInteger();
      AtomicInteger exclusive = new AtomicInteger();
      Thread other =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    for (int i = 1; i <= ROUNDS; i++) {
                      int round = i;
                      await(() -> begun.get() == round);
                      b.write(bytes(i + 1));
                      if (i % 3 == 0) {
                        simulation.exclusively(exclusive::incrementAndGet);
                      }
                      await(b.qp.cq);
                      ended.set(i);
                    }
                  });
      for (int i = 1; i <= ROUNDS; i++) {
        begun.set(i);
        for (int wait = i % 64; wait > 0; wait--) {
          Thread.onSpinWait();
        }
        a.write(bytes(i));
        await(a.qp.cq);
        int round = i;
        await(() -> ended.get() == round);
      }
      other.join();
      assertThat(exclusive).hasValue(ROUNDS / 3);
    }
  }

  /** Some messages exceed the limit of a store, so that the thread wakes, and sleeps again. */
  private static int bytes(int round) {
    return round % 16 == 0 ? 1 << 17 : 8;
  }

  /** A store that only queues arrives when the thread is about to sleep, or sleeps. */
  @Test
  void noWorkIsOverlookedByTheThreadThatGoesToSleep() {
    try (Host host = Tap.elsewhere().open("model:sleepy").bringUp()) {
      Loopback loopback = new Loopback(host);
      for (int i = 0; i < ROUNDS; i++) {
        loopback.write();
        await(loopback.qp.cq);
        long ring = System.nanoTime() + i % 1000 * 50L;
        while (System.nanoTime() - ring < 0) {
          Thread.onSpinWait();
        }
      }
    }
  }
}

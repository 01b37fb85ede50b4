package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.Waits.await;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.abi.EventQueueContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a threaded simulation delivers an interrupt: with no lock held, and not after the close. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ToldInterruptsTest {
  private static final int PAGE = 4096;

  @Test
  void interruptIsDeliveredWhenTheLockIsFree() {
    toldWhenTheLockIsFree(Tap.here());
    toldWhenTheLockIsFree(Tap.elsewhere());
  }

  private void toldWhenTheLockIsFree(Tap tap) {
    try (Host host = tap.open("model:told").bringUp()) {
      Host.Eq eq = host.eq(4, 3, EventQueueContext.ARMED);
      Host.Qp qp = host.qp(host.cq(6, 0, 4));
      qp.peer(host, qp);
      qp.toRts();
      Host.Buffer buffer = host.buffer(PAGE, Host.ALL);
      StepLock lock = host.hca().simulation().lock();
      AtomicInteger told = new AtomicInteger();
      AtomicBoolean held = new AtomicBoolean();
      tap.hook =
          (access, _) -> {
            if (access.equals("raise")) {
              told.incrementAndGet();
              held.compareAndSet(false, lock.isHeldHere());
            }
          };
      for (int i = 1; i <= 200; i++) {
        host.arm(qp.cq, false);
        qp.write(buffer, 0, new Host.Piece(buffer, 8, 8));
        await(qp.cq);
        int rounds = i;
        await(() -> told.get() == rounds);
        assertThat(eq.take()).hasSize(1);
        eq.arm();
      }
      assertThat(held).isFalse();
    }
  }

  /** Work within a step releases a lock that the step still holds. */
  @Test
  void interruptIsNotDeliveredInTheMiddleOfAStep() {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:middle").bringUp()) {
      Host.Eq eq = host.eq(4, 3, EventQueueContext.ARMED);
      Host.Qp first = host.qp(host.cq(6, 0, 4));
      first.peer(host, first);
      first.toRts();
      Loopback second = new Loopback(host);
      Host.Buffer buffer = host.buffer(PAGE, Host.ALL);
      Simulation simulation = host.hca().simulation();
      AtomicInteger told = new AtomicInteger();
      AtomicBoolean held = new AtomicBoolean();
      tap.hook =
          (access, _) -> {
            if (access.equals("raise")) {
              told.incrementAndGet();
              held.compareAndSet(false, simulation.lock().isHeldHere());
            } else if (simulation.lock().isHeldHere()) {
              simulation.exclusively(() -> {});
            }
          };
      host.arm(first.cq, false);
      simulation.exclusively(
          () -> {
            first.write(buffer, 0, new Host.Piece(buffer, 8, 8));
            second.write(); // done behind the first, in the same step
          });
      await(first.cq);
      await(second.qp.cq);
      await(() -> told.get() == 1);
      assertThat(eq.take()).hasSize(1);
      assertThat(held).isFalse();
    }
  }

  /**
   * A caller that has reset or closed an HCA gets no more of its interrupts. Those that a thread
   * without locks of a driver handles itself, as the simulation's own does, are not waited for.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void interruptInDeliveryIsAwaitedAtTheEnd(boolean closes) throws InterruptedException {
    while (!isRaisedByTheRinger(closes)) {
      // the simulation's thread was faster
    }
  }

  private static boolean isRaisedByTheRinger(boolean closes) throws InterruptedException {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:telling").bringUp()) {
      host.eq(4, 3, EventQueueContext.ARMED);
      Host.Qp qp = host.qp(host.cq(6, 0, 4));
      qp.peer(host, qp);
      qp.toRts();
      Host.Buffer buffer = host.buffer(PAGE, Host.ALL);
      host.arm(qp.cq, false);
      CountDownLatch telling = new CountDownLatch(1);
      CountDownLatch told = new CountDownLatch(1);
      AtomicReference<Thread> raising = new AtomicReference<>();
      Thread ringer =
          Thread.ofPlatform().unstarted(() -> qp.write(buffer, 0, new Host.Piece(buffer, 8, 8)));
      tap.hook =
          (access, _) -> {
            if (access.equals("raise")) {
              raising.set(Thread.currentThread());
              telling.countDown();
              if (raising.get().equals(ringer)) {
                Waits.uninterrupted(told::await);
              }
            }
          };
      ringer.start();
      telling.await();
      if (!raising.get().equals(ringer)) {
        ringer.join();
        return false;
      }
      Thread end = Thread.ofPlatform().start(closes ? host::close : host.function::reset);
      await(() -> forgets(end) || !end.isAlive());
      boolean waits = end.isAlive();
      told.countDown();
      end.join();
      ringer.join();
      assertThat(waits).isTrue();
      return true;
    }
  }

  private static boolean forgets(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().equals(CardBus.class.getName())
                    && frame.getMethodName().equals("forget"));
  }
}

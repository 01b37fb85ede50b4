package org.hghca.vfio.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InProcessInterruptsTest {
  private static final long LONG = 20_000_000_000L;

  private final FakeDevice device = new FakeDevice();
  private PciFunction function;

  private Interrupts connect(int vectors) {
    device.vectors = vectors;
    function = InProcessFunction.connect(Locator.parse("fake:f0"), device);
    return function.interrupts();
  }

  @AfterEach
  void close() {
    function.close();
  }

  /** Runs a wait on a thread of its own, and returns once that thread is parked in it. */
  private static FutureTask<Long> parked(Callable<Long> wait) {
    FutureTask<Long> task = new FutureTask<>(wait);
    Thread thread = Thread.ofPlatform().daemon().start(task);
    while (thread.getState() != Thread.State.TIMED_WAITING && !task.isDone()) {
      Thread.onSpinWait();
    }
    return task;
  }

  @Test
  void vectorsAreLimitedTo64() {
    assertThat(connect(7).vectors()).isEqualTo(7);
    function.close();
    assertThat(connect(2048).vectors()).isEqualTo(64);
  }

  @Test
  void firedVectorsAreReportedOnce() {
    Interrupts interrupts = connect(64);
    device.bus().raise(0);
    device.bus().raise(5);
    device.bus().raise(5);
    device.bus().raise(63);

    assertThat(interrupts.await(LONG)).isEqualTo(1L | 1L << 5 | 1L << 63);
    assertThat(interrupts.await(0)).isZero();
  }

  @Test
  void everyInterruptIsCountedByVector() {
    Interrupts interrupts = connect(64);
    device.bus().raise(0);
    device.bus().raise(5);
    device.bus().raise(5);
    device.bus().raise(-1);

    assertThat(interrupts.count(0)).isEqualTo(1);
    assertThat(interrupts.count(5)).isEqualTo(2);
    assertThat(Arrays.stream(interrupts.counts()).sum()).isEqualTo(3);
  }

  @Test
  void vectorThatDoesNotExistIsIgnored() {
    Interrupts interrupts = connect(4);
    device.bus().raise(-1);
    device.bus().raise(4);
    device.bus().raise(64);

    assertThat(interrupts.await(0)).isZero();
  }

  @Test
  void waitEndsAfterItsTime() {
    Interrupts interrupts = connect(4);
    long start = System.nanoTime();

    assertThat(interrupts.await(2_000_000)).isZero();

    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(2_000_000);
  }

  @Test
  void interruptEndsAWaitInProgress() throws Exception {
    Interrupts interrupts = connect(4);
    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));

    device.bus().raise(3);

    assertThat(wait.get()).isEqualTo(0b1000);
  }

  @Test
  void longestWaitBlocksToo() throws Exception {
    Interrupts interrupts = connect(4);
    FutureTask<Long> wait = parked(() -> interrupts.await(Long.MAX_VALUE));

    device.bus().raise(0);

    assertThat(wait.get()).isOne();
  }

  @Test
  void wakeEndsAWaitInProgress() throws Exception {
    Interrupts interrupts = connect(4);
    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));

    interrupts.wake();

    assertThat(wait.get()).isZero();
  }

  @Test
  void wakeEndsOnlyTheNextWait() throws Exception {
    Interrupts interrupts = connect(4);
    interrupts.wake();

    assertThat(interrupts.await(LONG)).isZero();

    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));
    device.bus().raise(1);
    assertThat(wait.get()).isEqualTo(0b10);
  }

  @Test
  void threadThatRaisesHandlesTheInterruptWithoutWakingTheWaiter() throws Exception {
    Interrupts interrupts = connect(4);
    List<Thread> handlers = new ArrayList<>();
    interrupts.handleBy(
        () -> {
          handlers.add(Thread.currentThread());
          return handlers.size() == 1;
        });
    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));

    device.bus().raise(4); // there is none
    device.bus().raiseHere(4);
    assertThat(handlers).isEmpty();
    device.bus().raiseHere(1);
    assertThat(handlers).containsExactly(Thread.currentThread());
    assertThat(interrupts.count(1)).isOne();
    assertThat(wait.isDone()).isFalse();

    device.bus().raiseHere(2); // the handler leaves this one
    assertThat(wait.get()).isEqualTo(0b110);
    assertThat(handlers).hasSize(2);
  }

  @Test
  void threadThatMayHoldLocksWakesTheWaiter() throws Exception {
    Interrupts interrupts = connect(4);
    interrupts.handleBy(
        () -> {
          throw new AssertionError("handled");
        });
    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));

    device.bus().raise(1);

    assertThat(wait.get()).isEqualTo(0b10);
  }

  @Test
  void withoutAHandlerTheWaiterIsWoken() throws Exception {
    Interrupts interrupts = connect(4);
    FutureTask<Long> wait = parked(() -> interrupts.await(LONG));

    device.bus().raiseHere(1);

    assertThat(wait.get()).isEqualTo(0b10);
  }
}

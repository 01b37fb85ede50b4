package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Who does the work of a threaded simulation: whoever rings, or the thread that is there for it.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallerRunsTest {
  private static final String LOOP = "hghca-model";
  private static final int PAGE = 4096;
  private static final int ROUNDS = 10_000;

  /** A queue pair that does not exist. */
  private static final int NOBODY = 0x3ff0;

  /** Contexts, work requests and table entries of a store, beside its payload. */
  private static final int TABLES = 64 * 1024;

  private static Host.Completion await(Host.Cq cq) {
    await(cq::hasNext);
    return cq.take();
  }

  private static void await(BooleanSupplier condition) {
    for (int looks = 0; !condition.getAsBoolean(); looks++) {
      if (looks < 1000) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  private static boolean isLoop(Thread thread) {
    return thread.getName().equals(LOOP);
  }

  @Test
  void aMessageIsDoneByTheThreadThatRings() {
    Tap tap = Tap.here();
    try (Host left = tap.open("model:own?cable=own").bringUp();
        Host right = Host.open("model:peer?cable=own").bringUp()) {
      Host.Qp a = left.qp();
      Host.connect(left, a, right, right.qp());
      Host.Buffer source = left.buffer(PAGE, Host.LOCAL);
      Host.Buffer target = right.buffer(PAGE, Host.ALL);
      boolean here = false;
      // Not the first one perhaps: the thread may have the lock, to look whether it may sleep.
      while (!here) {
        long before = tap.readHere.get()[0];
        a.write(target, 0, new Host.Piece(source, 0, 8));
        here = tap.readHere.get()[0] > before && a.cq.hasNext();
        assertThat(await(a.cq).failed()).isFalse();
      }
    }
  }

  @Test
  void aCommandIsExecutedByTheThreadThatGivesIt() {
    Tap tap = Tap.here();
    try (Host _ = tap.open("model:commander").bringUp()) {
      assertThat(tap.threads).contains(Thread.currentThread());
    }
  }

  /** Who rings a doorbell may hold a lock that spins, and a command may take long. */
  @Test
  void aCommandIsNotExecutedByWhoRingsADoorbell() throws InterruptedException {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:other").bringUp()) {
      Loopback loopback = new Loopback(host);
      Set<Thread> executing = ConcurrentHashMap.newKeySet();
      int answer = HcrCommand.QUERY_DEV_LIM.outboxSize();
      tap.hook =
          (access, bytes) -> {
            if (access.equals("write") && bytes == answer) {
              executing.add(Thread.currentThread());
            }
          };
      Thread giver =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < ROUNDS; i++) {
                      host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
                    }
                  });
      while (giver.isAlive()) {
        loopback.write();
        assertThat(await(loopback.qp.cq).failed()).isFalse();
      }
      assertThat(executing).isNotEmpty().allMatch(thread -> thread.equals(giver) || isLoop(thread));
    }
  }

  @Test
  void aStoreDoesNoMoreThan64KiBAndTheThreadDoesTheRest() {
    doesNoMoreThan(5, 255 * PAGE, 96 * 1024);
  }

  @Test
  void aStoreDoesNoMoreThanSomePackets() {
    doesNoMoreThan(1, 1 << 18, 64 * 256);
  }

  private void doesNoMoreThan(int mtu, int messageBytes, int most) {
    Tap tap = Tap.here();
    try (Host left = tap.open("model:big?cable=big").bringUp();
        Host right = Host.open("model:bigpeer?cable=big").bringUp()) {
      Host.Qp a = left.qp();
      Host.Qp b = right.qp();
      a.context.set(QueuePairContext.MTU, mtu);
      b.context.set(QueuePairContext.MTU, mtu);
      Host.connect(left, a, right, b);
      Host.Buffer source = left.buffer(messageBytes, Host.LOCAL);
      Host.Buffer target = right.buffer(messageBytes, Host.ALL);
      tap.threads.clear();
      boolean here = false;
      for (int i = 0; i < 50 || !here; i++) {
        long before = tap.readHere.get()[0];
        a.write(target, 0, new Host.Piece(source, 0, messageBytes));
        long read = tap.readHere.get()[0] - before;
        assertThat(read).isLessThanOrEqualTo(most + TABLES);
        here |= read > most / 2;
        assertThat(await(a.cq).failed()).isFalse();
      }
      assertThat(tap.threads).anyMatch(CallerRunsTest::isLoop);
    }
  }

  @Test
  void memoryOfAnotherProcessIsForTheThreadAlone() {
    Tap tap = Tap.elsewhere();
    try (Host left = tap.open("model:far?cable=far").bringUp();
        Host right = Host.open("model:farpeer?cable=far").bringUp()) {
      Host.Qp a = left.qp();
      Host.connect(left, a, right, right.qp());
      Host.Buffer source = left.buffer(PAGE, Host.LOCAL);
      Host.Buffer target = right.buffer(PAGE, Host.ALL);
      for (int i = 0; i < 1000; i++) {
        a.write(target, 0, new Host.Piece(source, 0, 8));
        assertThat(await(a.cq).failed()).isFalse();
      }
      assertThat(tap.threads).allMatch(CallerRunsTest::isLoop);
    }
  }

  /** The ringer does what is its own, and the thread is woken for what has reached the other. */
  @Test
  void aPeerWhoseMemoryIsAnotherProcesssIsForTheThreadAlone() {
    Tap near = Tap.here();
    Tap far = Tap.elsewhere();
    try (Host left = near.open("model:near?cable=nf").bringUp();
        Host right = far.open("model:away?cable=nf").bringUp()) {
      Host.Qp a = left.qp();
      Host.Qp b = right.qp();
      withoutTimers(a, b);
      Host.connect(left, a, right, b);
      Host.Buffer source = left.buffer(PAGE, Host.LOCAL);
      Host.Buffer target = right.buffer(PAGE, Host.ALL);
      for (int i = 0; i < 1000 || !near.threads.contains(Thread.currentThread()); i++) {
        a.write(target, 0, new Host.Piece(source, 0, 8));
        assertThat(await(a.cq).failed()).isFalse();
      }
      assertThat(far.threads).allMatch(CallerRunsTest::isLoop);
    }
  }

  private static void withoutTimers(Host.Qp... qps) {
    for (Host.Qp qp : qps) {
      qp.context.set(QueuePairContext.ACK_TIMEOUT, 0);
    }
  }

  @Test
  void aVirtualThreadLeavesTheWorkToTheThread() throws InterruptedException {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:virtual").bringUp()) {
      Loopback loopback = new Loopback(host);
      tap.threads.clear();
      Thread.startVirtualThread(
              () -> {
                for (int i = 0; i < 1000; i++) {
                  loopback.write();
                  await(loopback.qp.cq);
                }
              })
          .join();
      assertThat(tap.threads).isNotEmpty().allMatch(CallerRunsTest::isLoop);
    }
  }

  /** They ring and spin, and leave no carrier for anybody else. */
  @Test
  void virtualThreadsThatKeepAllCarriersBusyAreServed() throws InterruptedException {
    try (Host host = Host.open("model:carriers").bringUp()) {
      List<Thread> threads = new ArrayList<>();
      AtomicInteger done = new AtomicInteger();
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
        Loopback loopback = new Loopback(host);
        threads.add(
            Thread.ofVirtual()
                .unstarted(
                    () -> {
                      for (int j = 0; j < 500; j++) {
                        loopback.write();
                        while (!loopback.qp.cq.hasNext()) {
                          Thread.onSpinWait();
                        }
                        loopback.qp.cq.take();
                      }
                      done.incrementAndGet();
                    }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(done).hasValue(threads.size());
    }
  }

  @Test
  void aStoreMadeInsideAStepOnlyQueues() {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:nested").bringUp()) {
      Loopback first = new Loopback(host);
      Loopback second = new Loopback(host);
      AtomicInteger depth = new AtomicInteger();
      AtomicInteger deepest = new AtomicInteger();
      AtomicBoolean store = new AtomicBoolean();
      tap.hook =
          (_, _) -> {
            deepest.accumulateAndGet(depth.incrementAndGet(), Math::max);
            if (store.getAndSet(false)) {
              second.write();
            }
            depth.decrementAndGet();
          };
      for (int i = 0; i < 1000; i++) {
        store.set(true);
        first.write();
        assertThat(await(first.qp.cq).failed()).isFalse();
        assertThat(await(second.qp.cq).failed()).isFalse();
      }
      assertThat(deepest).hasValue(1);
    }
  }

  @Test
  void anInterruptedThreadRingsAsAnyOther() {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:interrupted").bringUp()) {
      Loopback loopback = new Loopback(host);
      tap.threads.clear();
      Thread.currentThread().interrupt();
      for (int i = 0; i < 1000 || !tap.threads.contains(Thread.currentThread()); i++) {
        loopback.write();
        assertThat(await(loopback.qp.cq).failed()).isFalse();
      }
      assertThat(host.command(0x77, 0, 0, 0, 0)).isNotZero(); // a command as well
      assertThat(Thread.interrupted()).isTrue();
      assertThat(host.hca().faults()).isEmpty();
    }
  }

  @Test
  void anInterruptIsToldWhenTheLockIsFree() {
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

  /** What is done within a step lets go of a lock that the step still has. */
  @Test
  void anInterruptIsNotToldInTheMiddleOfAStep() {
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

  /** Who has reset or closed an HCA hears nothing of it any more. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptThatIsBeingToldIsWaitedForAtTheEnd(boolean closes) throws InterruptedException {
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
      tap.hook =
          (access, _) -> {
            if (access.equals("raise")) {
              telling.countDown();
              uninterrupted(told::await);
            }
          };
      Thread ringer =
          Thread.ofPlatform().start(() -> qp.write(buffer, 0, new Host.Piece(buffer, 8, 8)));
      telling.await();
      Thread end = Thread.ofPlatform().start(closes ? host::close : host.function::reset);
      await(() -> waitsForBus(end) || !end.isAlive());
      boolean waits = end.isAlive();
      told.countDown();
      end.join();
      ringer.join();
      assertThat(waits).isTrue();
    }
  }

  private static boolean waitsForBus(Thread thread) {
    ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId());
    LockInfo wanted = info == null ? null : info.getLockInfo();
    return wanted != null && wanted.getClassName().equals(CardBus.class.getName());
  }

  /** The ringer has done all the work, and nobody else would look before the deadline. */
  @Test
  void aDeadlineIsKeptThoughTheThreadSleeps() {
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
        await(CallerRunsTest::loopSleeps);
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
  void whoeverWantsTheLockComesAfterOneStepOfARinger() throws InterruptedException {
    comesAfterOneStep(Tap.here(), 1);
  }

  @Test
  void whoeverWantsTheLockComesAfterOneStepOfTheThread() throws InterruptedException {
    comesAfterOneStep(Tap.elsewhere(), 4);
  }

  /** Within a step one asks for the lock; how much is read before he has it? */
  private void comesAfterOneStep(Tap tap, int messages) throws InterruptedException {
    try (Host left = tap.open("model:stream?cable=stream").bringUp();
        Host right = Host.open("model:sink?cable=stream").bringUp()) {
      Host.Qp a = left.qp();
      Host.connect(left, a, right, right.qp());
      Host.Buffer source = left.buffer(255 * PAGE, Host.LOCAL);
      Host.Buffer target = right.buffer(255 * PAGE, Host.ALL);
      Simulation simulation = left.hca().simulation();
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
        Runnable write = () -> a.write(target, 0, new Host.Piece(source, 0, 255 * PAGE));
        if (messages == 1) {
          write.run();
        } else {
          // All of them before the first step.
          simulation.exclusively(() -> IntStream.range(0, messages).forEach(_ -> write.run()));
        }
        finished.await();
        // Who gets no processor for 10 ms is not waited for.
        if (waited.get() < 10_000_000) {
          inTime++;
          int packets = isLoop(steps.get()) ? 256 : 8;
          assertThat(after.get() - before.get()).isLessThanOrEqualTo(packets * PAGE + TABLES);
        }
        for (int open = messages; open > 0; open--) {
          assertThat(await(a.cq).failed()).isFalse();
        }
      }
      assertThat(inTime).isPositive();
    }
  }

  /** One is in a step when another rings at an HCA that is no affair of the first. */
  @Test
  void whoeverFindsARingerInAStepIsSeenBehindIt() throws InterruptedException {
    isSeenBehindAStepOf(Tap.here());
  }

  @Test
  void whoeverFindsTheThreadInAStepIsSeenBehindIt() throws InterruptedException {
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
              join(Thread.ofPlatform().start(second::write));
            }
          };
      for (int i = 0; i < 200; i++) {
        once.set(true);
        first.write();
        await(first.qp.cq);
        await(second.qp.cq);
      }
    }
  }

  @Test
  void whoeverFindsTheLockTakenForSomethingElseIsSeenBehindIt() {
    try (Host host = Host.open("model:taken").bringUp()) {
      Loopback loopback = new Loopback(host);
      for (int i = 0; i < 200; i++) {
        host.hca().simulation().exclusively(() -> join(Thread.ofPlatform().start(loopback::write)));
        await(loopback.qp.cq);
      }
    }
  }

  /**
   * Two ring at HCAs of their own at the same time, and one wants the lock: each finds it taken or
   * free. Nobody does anything else until both messages are complete, and there are no timers: what
   * is overlooked stays.
   */
  @Test
  void nothingIsOverlookedBetweenThreads() throws InterruptedException {
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

  /** A store that only queues comes when the thread is about to sleep, or does. */
  @Test
  void nothingIsOverlookedByTheThreadThatGoesToSleep() {
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

  private static void join(Thread thread) {
    uninterrupted(thread::join);
  }

  private static void uninterrupted(Wait wait) {
    try {
      wait.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private interface Wait {
    void await() throws InterruptedException;
  }

  /** Some messages are more than a store does, so that the thread wakes, and sleeps again. */
  private static int bytes(int round) {
    return round % 16 == 0 ? 1 << 17 : 8;
  }

  /** A queue pair that is its own peer, without timers: they would find what was overlooked. */
  private static final class Loopback {
    final Host.Qp qp;
    private final Host.Buffer buffer;

    Loopback(Host host) {
      qp = host.qp();
      withoutTimers(qp);
      qp.peer(host, qp);
      qp.toRts();
      buffer = host.buffer(1 << 17, Host.ALL);
    }

    void write() {
      write(8);
    }

    void write(int bytes) {
      qp.write(buffer, 0, new Host.Piece(buffer, 0, bytes));
    }
  }
}

package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.Waits.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which thread runs a threaded simulation: the one that rings, or the simulation's thread. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallerRunsTest {
  private static final String LOOP = "hghca-model";
  private static final int PAGE = 4096;
  private static final int ROUNDS = 10_000;

  /** Bytes of contexts, work requests and table entries of a store, beside its payload. */
  private static final int TABLES = 64 * 1024;

  static boolean isLoop(Thread thread) {
    return thread.getName().equals(LOOP);
  }

  @Test
  void messageIsProcessedByTheThreadThatRings() {
    Tap tap = Tap.here();
    try (TwoHosts hosts =
        new TwoHosts(tap.open("model:own?cable=own"), Host.open("model:peer?cable=own"), 8)) {
      boolean here = false;
      // Possibly not the first one: the thread may hold the lock, to check whether it may sleep.
      while (!here) {
        long before = tap.readHere.get()[0];
        hosts.write();
        here = tap.readHere.get()[0] > before && hosts.cq().hasNext();
        assertThat(await(hosts.cq()).failed()).isFalse();
      }
    }
  }

  @Test
  void commandIsExecutedByTheThreadThatIssuesIt() {
    Tap tap = Tap.here();
    try (Host _ = tap.open("model:commander").bringUp()) {
      assertThat(tap.threads).contains(Thread.currentThread());
    }
  }

  /** A thread that rings may hold a spin lock, and a command may take long. */
  @Test
  void commandIsNotExecutedByAThreadThatRingsADoorbell() throws InterruptedException {
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
      AtomicInteger rung = new AtomicInteger();
      AtomicInteger given = new AtomicInteger();
      int amid = 0;
      Thread giver =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < ROUNDS || rung.get() < ROUNDS; i++) {
                      host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
                      given.set(i);
                    }
                  });
      while (giver.isAlive()) {
        int before = given.get();
        loopback.write();
        assertThat(await(loopback.qp.cq).failed()).isFalse();
        rung.incrementAndGet();
        amid += given.get() > before ? 1 : 0;
      }
      assertThat(amid).as("doorbells rung while a command ended").isPositive();
      assertThat(executing).isNotEmpty().allMatch(thread -> thread.equals(giver) || isLoop(thread));
    }
  }

  @Test
  void storeMovesAtMost64KiBAndTheThreadDoesTheRest() {
    doesNoMoreThan(5, 255 * PAGE, 96 * 1024);
  }

  @Test
  void storeHandlesALimitedNumberOfPackets() {
    doesNoMoreThan(1, 1 << 18, 64 * 256);
  }

  private void doesNoMoreThan(int mtu, int messageBytes, int most) {
    Tap tap = Tap.here();
    try (TwoHosts hosts =
        new TwoHosts(
            tap.open("model:big?cable=big"),
            Host.open("model:bigpeer?cable=big"),
            messageBytes,
            qp -> qp.context.set(QueuePairContext.MTU, mtu))) {
      tap.threads.clear();
      boolean here = false;
      for (int i = 0; i < 50 || !here; i++) {
        long before = tap.readHere.get()[0];
        hosts.write();
        long read = tap.readHere.get()[0] - before;
        assertThat(read).isLessThanOrEqualTo(most + TABLES);
        here |= read > most / 2;
        assertThat(await(hosts.cq()).failed()).isFalse();
      }
      assertThat(tap.threads).anyMatch(CallerRunsTest::isLoop);
    }
  }

  @Test
  void memoryOfAnotherProcessIsLeftToTheThread() {
    Tap tap = Tap.elsewhere();
    try (TwoHosts hosts =
        new TwoHosts(tap.open("model:far?cable=far"), Host.open("model:farpeer?cable=far"), 8)) {
      for (int i = 0; i < 1000; i++) {
        hosts.write();
        assertThat(await(hosts.cq()).failed()).isFalse();
      }
      assertThat(tap.threads).allMatch(CallerRunsTest::isLoop);
    }
  }

  /**
   * The ringing thread runs its own HCA, and wakes the simulation's thread for the packets that
   * reached the other.
   */
  @Test
  void peerWithMemoryOfAnotherProcessIsLeftToTheThread() {
    Tap near = Tap.here();
    Tap far = Tap.elsewhere();
    try (TwoHosts hosts =
        new TwoHosts(
            near.open("model:near?cable=nf"),
            far.open("model:away?cable=nf"),
            8,
            qp -> qp.context.set(QueuePairContext.ACK_TIMEOUT, 0))) { // no timers
      for (int i = 0; i < 1000 || !near.threads.contains(Thread.currentThread()); i++) {
        hosts.write();
        assertThat(await(hosts.cq()).failed()).isFalse();
      }
      assertThat(far.threads).allMatch(CallerRunsTest::isLoop);
    }
  }

  @Test
  void virtualThreadThatRingsDoesTheWork() throws InterruptedException {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:virtual").bringUp()) {
      Loopback loopback = new Loopback(host);
      tap.threads.clear();
      Thread ringing =
          Thread.startVirtualThread(
              () -> {
                while (!tap.threads.contains(Thread.currentThread())) {
                  loopback.write();
                  await(loopback.qp.cq);
                }
              });
      ringing.join();
      assertThat(tap.threads).contains(ringing);
    }
  }

  @Test
  void commandOfAVirtualThreadIsLeftToTheThread() throws InterruptedException {
    Tap tap = Tap.here();
    try (Host host = tap.open("model:virtualgiver").bringUp()) {
      tap.threads.clear();
      Thread.startVirtualThread(
              () -> {
                for (int i = 0; i < 100; i++) {
                  host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
                }
              })
          .join();
      assertThat(tap.threads).isNotEmpty().allMatch(CallerRunsTest::isLoop);
    }
  }

  /** The other end of the cable belongs to the step. */
  @Test
  void virtualThreadLeavesACardThatTakesMonitorsToTheThread() throws InterruptedException {
    Tap tap = Tap.here();
    try (TwoHosts hosts =
        new TwoHosts(
            tap.open("model:monitors?cable=vm"),
            Host.open("model:watched?cable=vm&fault=other-guid"),
            8)) {
      tap.threads.clear();
      Thread.startVirtualThread(
              () -> {
                for (int i = 0; i < 1000; i++) {
                  hosts.write();
                  await(hosts.cq());
                }
              })
          .join();
      assertThat(tap.threads).isNotEmpty().allMatch(CallerRunsTest::isLoop);
    }
  }

  /** They ring and spin, and leave no carrier for other threads. */
  @Test
  void virtualThreadsThatKeepAllCarriersBusyAreServed() throws InterruptedException {
    try (Host host = Host.open("model:carriers").bringUp()) {
      List<Thread> threads = new ArrayList<>();
      AtomicInteger done = new AtomicInteger();
      AtomicInteger started = new AtomicInteger();
      int carriers =
          Integer.getInteger(
              "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
        Loopback loopback = new Loopback(host);
        threads.add(
            Thread.ofVirtual()
                .unstarted(
                    () -> {
                      started.incrementAndGet();
                      while (started.get() < carriers) {
                        Thread.onSpinWait(); // until they have all carriers
                      }
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
  void storeMadeInsideAStepOnlyQueues() {
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
  void interruptedThreadRingsLikeAnyOther() {
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
}

package org.hghca.mailbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Mpt;
import org.hghca.mailbox.FakeHcr.Access;
import org.hghca.mailbox.FakeHcr.Issued;
import org.hghca.vfio.testing.Waiters;
import org.junit.jupiter.api.Test;

class CommandConcurrencyTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 200;

  private final FakeHcr hcr = new FakeHcr();

  @Test
  void commandsOfManyThreadsNeverInterleave() throws Exception {
    hcr.busyPolls = 2;
    CommandInterface commands = CommandInterface.open(hcr.function, HardwareProfile.S);
    hcr.accesses.clear();
    AtomicInteger giving = new AtomicInteger();
    AtomicInteger contended = new AtomicInteger();
    hcr.onCommand = () -> contended.addAndGet(giving.get() > 1 ? 1 : 0);
    CyclicBarrier together = new CyclicBarrier(THREADS);

    ConcurrentLinkedQueue<Throwable> failures =
        onThreads(
            thread -> {
              for (int i = 0; i < ROUNDS; i++) {
                together.await();
                int index = thread * ROUNDS + i;
                giving.incrementAndGet();
                commands.sw2hwMpt(index, new Mpt(0, 0, index, 0, 0, 0, 0, 0, 0, 0, 0));
                giving.decrementAndGet();
              }
            });

    assertThat(failures).isEmpty();
    assertThat(contended).as("commands given while another thread gave one").hasPositiveValue();
    assertThat(hcr.violations).isEmpty();
    // Each command used the inbox of its own caller.
    assertThat(hcr.issued).hasSize(THREADS * ROUNDS);
    for (Issued issued : hcr.issued) {
      assertThat(issued.inbox(8, 12)).isEqualTo("%08x".formatted(issued.inModifier()));
    }
    assertThat(hcr.issued.stream().map(Issued::inModifier).distinct()).hasSize(THREADS * ROUNDS);
    List<Long> stores = hcr.accesses.stream().filter(Access::write).map(Access::offset).toList();
    for (int i = 0; i < stores.size(); i++) {
      assertThat(stores.get(i)).isEqualTo(i % 7 * 4L);
    }
  }

  @Test
  void oneTimeOutFailsAllWaiters() throws Exception {
    CommandInterface commands =
        CommandInterface.open(hcr.function, HardwareProfile.S, Duration.ofMillis(20));
    ConcurrentLinkedQueue<Throwable> told = new ConcurrentLinkedQueue<>();
    commands.onFatal(told::add);
    hcr.hang = true;
    // The command hangs when all others wait behind it.
    List<Thread> givers = new CopyOnWriteArrayList<>();
    CountDownLatch begun = new CountDownLatch(THREADS);
    hcr.onCommand =
        () -> {
          assertThatCode(begun::await).doesNotThrowAnyException();
          Waiters.await(
              givers.stream().filter(giver -> !giver.equals(Thread.currentThread())).toList());
        };

    ConcurrentLinkedQueue<Throwable> failures =
        onThreads(
            thread -> {
              givers.add(Thread.currentThread());
              begun.countDown();
              commands.closeHca();
            });

    assertThat(failures).hasSize(THREADS).allMatch(DeviceFatalException.class::isInstance);
    List<Throwable> first =
        failures.stream().filter(CommandTimeoutException.class::isInstance).toList();
    assertThat(first).hasSize(1);
    assertThat(failures)
        .filteredOn(e -> e.getCause() != null)
        .hasSize(THREADS - 1)
        .allSatisfy(e -> assertThat(e).cause().isSameAs(first.getFirst()));
    assertThat(told).containsExactlyElementsOf(first);
    assertThat(hcr.issued).hasSize(1);
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  private static ConcurrentLinkedQueue<Throwable> onThreads(Work work) throws Exception {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    IntStream.range(0, THREADS)
        .forEach(
            thread ->
                threads.add(
                    Thread.ofPlatform()
                        .start(
                            () -> {
                              Throwable failure = catchThrowable(() -> work.run(thread));
                              if (failure != null) {
                                failures.add(failure);
                              }
                            })));
    for (Thread thread : threads) {
      thread.join();
    }
    return failures;
  }
}

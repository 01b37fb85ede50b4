package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.testing.UnmappingFunction;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Threads that post and poll while the queues and the device are closed, whose memory is unmapped
 * at once. Entries of a completion queue are read by address, under its lock: an access after the
 * close would end this JVM.
 */
class ClosedMemoryTest {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** The number of completions that each thread has polled before the queues are closed. */
  private static final int POLLED = 200;

  private final List<AtomicInteger> polled = new ArrayList<>();
  private final List<CompletableFuture<Throwable>> ends = new ArrayList<>();

  @RepeatedTest(12)
  void pollsDuringACloseAreRefused() throws Exception {
    String locator = "virtio:ends-%d".formatted(COUNT.incrementAndGet());
    UnmappingFunction function = new UnmappingFunction(PciFunctions.open(Locator.parse(locator)));
    RoceDevice device = BringUp.of(function);
    RoceContext context = new RoceContext(new RdmaDevice("hca", locator, 1), device, device::close);
    ProtectionDomain pd = context.allocateProtectionDomain();
    MemoryRegion memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    CompletionQueue cq = context.createCompletionQueue(64);
    QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(8));
    qp.connect(local -> new QpEndpoint(0, local.qpNumber(), local.psn(), local.gid()));
    SendRequest write = new SendRequest();
    write.rdmaWrite(memory.address(), memory.rkey()).sge(memory, 64, 8).signaled();

    begin(() -> qp.tryPostSend(write) ? 1 : 0);
    Completions few = new Completions(1);
    begin(() -> cq.poll(few));
    Completions many = new Completions(16);
    begin(() -> cq.poll(many));
    while (polled.stream().anyMatch(made -> made.get() < POLLED)
        && ends.stream().noneMatch(CompletableFuture::isDone)) {
      Thread.onSpinWait();
    }
    qp.close();
    cq.close();
    memory.close();
    pd.close();
    context.close();

    for (CompletableFuture<Throwable> end : ends) {
      assertThat(end.get()).isInstanceOf(VerbsException.class).hasMessageContaining("is closed");
    }
    assertThat(function.left()).as("allocations left in the process").isZero();
  }

  private interface Call {
    /** Returns how many requests it has posted, or completions it has polled. */
    int run();
  }

  /** Starts a thread that repeats a call until it is refused. */
  private void begin(Call call) {
    AtomicInteger made = new AtomicInteger();
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    polled.add(made);
    ends.add(end);
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                while (true) {
                  made.addAndGet(call.run());
                }
              } catch (Throwable e) {
                end.complete(e);
              }
            });
  }
}

package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.Bar;
import org.hghca.driver.bringup.BringUp;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.testing.UnmappingFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Threads that post and poll while the queues and the device are closed, whose memory is unmapped
 * at once. They access it by address, under the locks of the rings: an access after the close would
 * end this JVM.
 */
class ClosedMemoryTest {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** The number of calls of each kind before the queues are closed. */
  private static final int CALLS = 200;

  @ParameterizedTest
  @CsvSource({
    "s, false, false",
    "r1, false, false",
    "r2, false, false",
    "s, true, false",
    "s, false, true",
    "s, true, true"
  })
  void postsAndPollsDuringACloseAreRefused(
      String profile, boolean singleOwner, boolean hasMappedDoorbells) throws Exception {
    for (int round = 0; round < 12; round++) {
      closeBehind(profile, singleOwner, hasMappedDoorbells);
    }
  }

  private static void closeBehind(String profile, boolean singleOwner, boolean hasMappedDoorbells)
      throws Exception {
    Locator locator =
        Locator.parse("model:ends-%d?profile=%s".formatted(COUNT.incrementAndGet(), profile));
    UnmappingFunction function = new UnmappingFunction(PciFunctions.open(locator));
    if (hasMappedDoorbells) {
      function.mapBar(Bar.BAR2, Bar.BAR2_SIZE);
    }
    HghcaDevice device = BringUp.of(function);
    Context context =
        new DeviceContext(new RdmaDevice("hca", locator.toString(), 1), device, device::close);
    ProtectionDomain pd = context.allocateProtectionDomain();
    MemoryRegion memory =
        pd.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    CompletionQueue cq = context.createCompletionQueue(64);
    QueuePairConfig config = QueuePairConfig.rc(cq, cq).sendDepth(8).receiveDepth(8).maxInline(16);
    QueuePair qp = pd.createQueuePair(singleOwner ? config.singleOwner() : config);
    qp.connect(local -> new QpEndpoint(0, local.qpNumber(), local.psn(), local.gid()));
    SendRequest write = new SendRequest();
    write.rdmaWrite(memory.address(), memory.rkey()).sge(memory, 64, 8).signaled();
    SendRequest inline = new SendRequest();
    inline.rdmaWrite(memory.address(), memory.rkey()).sge(memory, 64, 16).inline().signaled();
    SendRequest[] list = {write, inline, write};
    ReceiveRequest receive = new ReceiveRequest().into(memory, 128, 64);
    Completions few = new Completions(1);
    Completions many = new Completions(16);

    List<AtomicInteger> calls = new ArrayList<>();
    List<CompletableFuture<Throwable>> ends = new ArrayList<>();
    begin(
        calls,
        ends,
        () -> {
          boolean _ = qp.tryPostSend(write);
          boolean _ = qp.tryPostSend(inline);
          int _ = qp.tryPostSend(list, 0, list.length);
        });
    begin(calls, ends, () -> qp.tryPostReceive(receive));
    begin(calls, ends, () -> cq.poll(few));
    begin(calls, ends, () -> cq.poll(many));
    while (calls.stream().anyMatch(made -> made.get() < CALLS)
        && ends.stream().noneMatch(CompletableFuture::isDone)) {
      Thread.onSpinWait();
    }
    qp.close();
    cq.close();
    memory.close();
    pd.close();
    context.close();

    for (CompletableFuture<Throwable> end : ends) {
      Throwable told = end.get();
      // A single owner must not post while its queue pair is closed: only a crash of the JVM is
      // excluded.
      if (!singleOwner) {
        assertThat(told).isInstanceOf(VerbsException.class).hasMessageContaining("is closed");
      }
    }
    assertThat(function.left()).as("allocations left in the process").isZero();
  }

  /** Starts a thread that repeats a call until it is refused. */
  private static void begin(
      List<AtomicInteger> calls, List<CompletableFuture<Throwable>> ends, Runnable call) {
    AtomicInteger made = new AtomicInteger();
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    calls.add(made);
    ends.add(end);
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                while (true) {
                  call.run();
                  made.incrementAndGet();
                }
              } catch (Throwable e) {
                end.complete(e);
              }
            });
  }
}

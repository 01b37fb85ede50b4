package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** Two threads that use a queue pair of a single owner, with assertions. */
class SingleOwnerTest {

  @Test
  void twoThreadsThatPostAtOnceAreDetected() {
    assumeTrue(HghcaQueuePair.class.desiredAssertionStatus(), "needs -ea");
    try (Context context = RdmaDevices.open("model:single-owner?mode=inline");
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE);
        CompletionQueue cq = context.createCompletionQueue(64);
        QueuePair qp =
            pd.createQueuePair(
                QueuePairConfig.rc(cq, cq).sendDepth(8).receiveDepth(8).singleOwner())) {
      qp.connect(local -> new QpEndpoint(0, local.qpNumber(), local.psn(), local.gid()));

      assertThat(fromTwoThreads(() -> qp.tryPostSend(new SendRequest().send().sge(memory, 0, 8))))
          .hasMessageContaining("the send queue of QP 0x%06x", qp.number());
      assertThat(fromTwoThreads(() -> qp.tryPostReceive(new ReceiveRequest().into(memory, 0, 8))))
          .hasMessageContaining("the receive queue of QP 0x%06x", qp.number());
    }
  }

  /** Both continue, the queue full or not, until one detects the other. */
  private static IllegalStateException fromTwoThreads(BooleanSupplier post) {
    CompletableFuture<IllegalStateException> found = new CompletableFuture<>();
    AtomicBoolean stop = new AtomicBoolean();
    Runnable posting =
        () -> {
          try {
            while (!stop.get()) {
              boolean _ = post.getAsBoolean();
            }
          } catch (IllegalStateException e) {
            found.complete(e);
          }
        };
    Thread one = Thread.ofPlatform().daemon().start(posting);
    Thread two = Thread.ofPlatform().daemon().start(posting);
    IllegalStateException failure = found.join();
    stop.set(true);
    try {
      one.join();
      two.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return failure;
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** Completion queues of a virtio device that share an interrupt vector, and that do not. */
class CompletionVectorTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Armed queues of a vector, of which one after the other completes a request. */
  @Test
  void onlyTheQueueWithACompletionIsReported() throws Exception {
    try (Context context = RdmaDevices.open("virtio:shared-vector?cable=shared-vector");
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(64, LOCAL_WRITE, REMOTE_WRITE);
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue other = context.createCompletionQueue(16)) {
      List<CompletionQueue> queues = new ArrayList<>();
      List<QueuePair> pairs = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        CompletionQueue cq = queue(context, channel, 0);
        queues.add(cq);
        pairs.add(looped(pd, cq, other));
      }
      queues.get(2).requestNotify(true);
      for (int round = 0; round < 10; round++) {
        queues.get(0).requestNotify(false);
        queues.get(1).requestNotify(false);
        write(pairs.get(round % 2), memory);
        CompletionQueue told = channel.await(LIMIT).orElseThrow();
        assertThat(told).isSameAs(queues.get(round % 2));
        assertThat(told.poll(new Completions(2))).isEqualTo(1);
      }
      // Behind ten interrupts of the vector there is no event of another queue.
      assertThat(channel.await(Duration.ZERO)).isEmpty();
      pairs.forEach(QueuePair::close);
      queues.forEach(CompletionQueue::close);
    }
  }

  @Test
  void queueOfAReusedNumberHasItsOwnVector() throws Exception {
    try (Context context = RdmaDevices.open("virtio:own-vector?cable=own-vector");
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(64, LOCAL_WRITE, REMOTE_WRITE);
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue other = context.createCompletionQueue(16)) {
      int vectors = context.queryDevice().completionVectors();
      assertThat(vectors).isGreaterThan(5);
      for (int i = 0; i < 2 * context.queryDevice().maxCq(); i++) {
        queue(context, channel, i % vectors).close();
      }
      for (int vector : new int[] {5, 0, 3}) {
        CompletionQueue cq = queue(context, channel, vector);
        QueuePair qp = looped(pd, cq, other);
        cq.requestNotify(false);
        write(qp, memory);
        assertThat(channel.await(LIMIT)).containsSame(cq);
        qp.close();
        cq.close();
      }
    }
  }

  private static CompletionQueue queue(Context context, CompletionChannel channel, int vector) {
    return context.createCompletionQueue(
        CompletionQueueConfig.of(8).withChannel(channel).withVector(vector));
  }

  private static QueuePair looped(
      ProtectionDomain pd, CompletionQueue sends, CompletionQueue receives) throws Exception {
    QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(sends, receives));
    qp.connect(local -> local);
    return qp;
  }

  private static void write(QueuePair qp, MemoryRegion memory) {
    qp.postSend(
        new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 8).signaled());
  }
}

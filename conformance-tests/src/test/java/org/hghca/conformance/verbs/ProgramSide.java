package org.hghca.conformance.verbs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/** The objects of one player of a random program. */
final class ProgramSide implements AutoCloseable {
  static final int DEPTH = 24;
  static final int SGES = 4;
  static final int INLINE = 100;
  private static final int QUEUES = 2;

  final ProtectionDomain pd;
  final List<ProgramRegion> regions = new ArrayList<>();
  private final List<CompletionQueue> queues = new ArrayList<>();
  private final Map<Integer, ReferenceQp> queuePairs = new HashMap<>();
  private final Completions completions = new Completions(16);

  ProgramSide(Context context) {
    pd = context.allocateProtectionDomain();
    for (int i = 0; i < QUEUES; i++) {
      queues.add(context.createCompletionQueue(1));
    }
  }

  /** Each of its two completion queues is one of the side's, possibly the same. */
  QueuePair createQueuePair(SplittableRandom random) {
    return pd.createQueuePair(
        QueuePairConfig.rc(any(queues, random), any(queues, random))
            .sendDepth(DEPTH)
            .receiveDepth(DEPTH)
            .maxSendSge(SGES)
            .maxReceiveSge(SGES)
            .maxInline(INLINE));
  }

  void add(ReferenceQp reference) {
    queuePairs.put(reference.qp.number(), reference);
  }

  void remove(ReferenceQp reference) {
    queuePairs.remove(reference.qp.number());
  }

  static <T> T any(List<T> list, SplittableRandom random) {
    return list.get(random.nextInt(list.size()));
  }

  /** Polls a queue once, and compares. */
  void poll(SplittableRandom random) {
    poll(any(queues, random), 1 + random.nextInt(16));
  }

  /** Polls until the queue is empty. */
  void pollAll() {
    for (CompletionQueue queue : queues) {
      while (poll(queue, 16) > 0) {
        // more may follow
      }
    }
  }

  private int poll(CompletionQueue queue, int max) {
    int count = queue.poll(completions, max);
    for (int i = 0; i < count; i++) {
      ReferenceQp reference = queuePairs.get(completions.qpNumber(i));
      if (reference == null) {
        throw new AssertionError("of an unknown queue pair: " + completions.describe(i));
      }
      reference.check(Wc.of(completions, i));
    }
    return count;
  }

  @Override
  public void close() {
    regions.forEach(ProgramRegion::close);
    queues.forEach(CompletionQueue::close);
    pd.close();
  }
}

package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.junit.jupiter.api.Test;

/** As many queue pairs as the device reports; keys do not run out before. */
class ManyQueuePairsTest {
  private static final int DEPTH = 1;

  /** Requests for which one completion queue has room. */
  private static final int PER_QUEUE = 4000;

  @Test
  void asManyQueuePairsAsTheDeviceReportsCanBeCreated() {
    List<QueuePair> made = new ArrayList<>();
    List<CompletionQueue> queues = new ArrayList<>();
    try (DriverFixture it = new DriverFixture()) {
      int most = it.context.queryDevice().maxQp() - 1; // one is the fixture's
      while (made.size() < most) {
        if (made.size() % PER_QUEUE == 0) {
          queues.add(it.context.createCompletionQueue(2 * PER_QUEUE));
        }
        CompletionQueue cq = queues.getLast();
        made.add(
            it.pd.createQueuePair(
                QueuePairConfig.rc(cq, cq).sendDepth(DEPTH).receiveDepth(DEPTH).maxInline(0)));
      }
      assertThat(made).hasSize(16_381);
      it.connect(made.getLast());
      made.forEach(QueuePair::close);
      queues.forEach(CompletionQueue::close);
    }
  }
}

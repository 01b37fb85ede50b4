package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hghca.driver.rtl.RtlFamily;
import org.hghca.driver.rtl.recovery.StateFlowBySoftware;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** Requests of the first RTL whose doorbells are held back when their queue pair is closed. */
class HeldRequestsTest {
  private static final int REQUESTS = 40;

  /** A doorbell that arrives while the card has the queue pair in RST makes it send. */
  @Test
  void areNotRungWhenTheirQueuePairIsClosed() {
    List<Long> rung = new ArrayList<>();
    try (DriverFixture it = new DriverFixture("&profile=r1");
        HghcaCompletionQueue cq = (HghcaCompletionQueue) it.context.createCompletionQueue(64);
        MemoryRegion memory =
            it.pd.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
      HghcaQueuePair qp =
          (HghcaQueuePair) it.pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(REQUESTS));
      it.connect(qp);
      ((RtlFamily) it.device.family())
          .recovery()
          .maintenance()
          .stop(); // it would ring as soon as it can
      SendRequest write =
          new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 8).signaled();
      for (int i = 0; i < REQUESTS; i++) {
        qp.postSend(write);
      }
      assertThat(StateFlowBySoftware.of(qp).sends().holds()).isTrue();
      Completions completions = new Completions(REQUESTS);
      it.function.onCommand(
          () -> {
            rung.add(qp.sends().doorbells());
            cq.poll(completions); // as another thread may do: it returns doorbells
          });
      qp.close();
      it.function.onCommand(() -> {});
    }
    assertThat(rung).hasSizeGreaterThan(2);
    assertThat(rung).as("doorbells at each command").containsOnly(rung.getFirst());
  }
}

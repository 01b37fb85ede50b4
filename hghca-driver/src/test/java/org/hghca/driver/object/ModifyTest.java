package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.QueuePairContext;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** The contents of MODIFY_QP: always the whole context. */
class ModifyTest {

  private static List<QueuePairContext> contextsSent(DriverFixture it, QpAttributes attributes) {
    List<QueuePairContext> sent = new ArrayList<>();
    it.function.onCommand(
        () -> {
          MemorySegment inbox = it.function.inbox();
          if (inbox.byteSize() > 0) {
            sent.add(QueuePairContext.decode(inbox));
          }
        });
    it.qp.modify(attributes);
    it.function.onCommand(() -> {});
    return sent;
  }

  @Test
  void psnsThatTrafficHasAdvancedAreNotSentBack() {
    try (DriverFixture it = new DriverFixture();
        MemoryRegion memory = it.pd.allocate(4096, AccessFlag.LOCAL_WRITE)) {
      it.connect(); // from PSN 7 both ways, to itself
      Completions completions = new Completions(8);
      for (int i = 0; i < 3; i++) {
        it.qp.postReceive(new ReceiveRequest().into(memory, 2048, 64));
        it.qp.postSend(new SendRequest().send().sge(memory, 0, 64).signaled());
        assertThat(it.cq.poll(completions)).isEqualTo(2);
      }
      QueuePairContext sent =
          contextsSent(it, QpAttributes.to(QpState.RTS).minRnrTimer(3)).getLast();
      assertThat(sent.get(QueuePairContext.NEXT_SEND_PSN)).isEqualTo(10);
      assertThat(sent.get(QueuePairContext.LAST_ACKED_PSN)).isEqualTo(10);
      assertThat(sent.get(QueuePairContext.NEXT_RECEIVE_PSN)).isEqualTo(10);
      assertThat(sent.get(QueuePairContext.MIN_RNR_TIMER)).isEqualTo(3);
      assertThat(sent.get(QueuePairContext.PD)).isEqualTo(it.pd.number());
    }
  }

  @Test
  void resetSendsQueuesAndPsnsButNoPeer() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      QueuePairContext sent = contextsSent(it, QpAttributes.to(QpState.RESET)).getLast();
      assertThat(sent.get(QueuePairContext.STATE)).isZero();
      assertThat(sent.get(QueuePairContext.LOCAL_QPN)).isEqualTo(it.qp.number());
      assertThat(sent.get(QueuePairContext.SEND_WQE_LKEY)).isEqualTo(it.qp.memory().sendKey());
      assertThat(sent.get(QueuePairContext.REMOTE_QPN)).isZero();
      assertThat(sent.get(QueuePairContext.NEXT_SEND_PSN)).isZero();
    }
  }
}

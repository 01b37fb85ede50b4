package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.hghca.abi.HcrCommand;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** The device's own shared receive queue under failures. */
class HardwareSrqTest {

  @Test
  void queueThatTheDeviceCannotReadIsInError() throws Exception {
    try (DriverFixture it = new DriverFixture();
        SharedReceiveQueue queue =
            it.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1));
        MemoryRegion memory = it.pd.allocate(64, AccessFlag.LOCAL_WRITE);
        QueuePair qp =
            it.pd.createQueuePair(
                QueuePairConfig.rc(it.cq, it.cq).sendDepth(2).sharedReceiveQueue(queue))) {
      it.connect(qp);
      queue.postReceive(new ReceiveRequest().into(memory, 0, 64));
      HardwareSrq card = (HardwareSrq) queue;
      it.device.card().commands().hw2swMpt(card.key() & 0x3fff);
      qp.postSend(new SendRequest().send().sge(memory, 0, 8).signaled());
      Set<AsyncEventType> types = new HashSet<>();
      while (!types.contains(AsyncEventType.SRQ_ERR)) {
        AsyncEvent event = it.context.asyncEvents().await(Duration.ofSeconds(20)).orElseThrow();
        types.add(event.type());
        if (event.type() == AsyncEventType.SRQ_ERR) {
          assertThat(event)
              .isInstanceOfSatisfying(
                  AsyncEvent.OfSharedReceiveQueue.class,
                  e -> assertThat(e.sharedReceiveQueue()).isSameAs(queue));
        }
        event.acknowledge();
      }
      for (var left = it.context.asyncEvents().poll();
          left.isPresent();
          left = it.context.asyncEvents().poll()) {
        left.get().acknowledge();
      }
    }
  }

  /** Whatever the device refuses, the queue is unchanged, or was never created. */
  @Test
  void refusedCommandChangesNothing() {
    try (DriverFixture it = new DriverFixture()) {
      it.function.failCommand(2); // behind WRITE_MTT and SW2HW_MPT
      assertThatThrownBy(() -> it.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(HcrCommand.SW2HW_SRQ.name());
      try (SharedReceiveQueue queue =
          it.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(3, 0))) {
        ReceiveRequest request = new ReceiveRequest();
        queue.postReceive(new ReceiveRequest[] {request, request, request});
        it.function.failCommand(3); // behind QUERY_SRQ, WRITE_MTT and SW2HW_MPT
        assertThatThrownBy(() -> queue.resize(100))
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining(HcrCommand.RESIZE_SRQ.name());
        assertThat(queue.capacity()).isEqualTo(3);
        assertThat(queue.tryPostReceive(request)).isFalse();
        queue.resize(100);
        for (int i = 3; i < 100; i++) {
          queue.postReceive(request);
        }
        assertThat(queue.tryPostReceive(request)).isFalse();
      }
    }
  }
}

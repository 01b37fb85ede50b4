package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.model.Disturbance;
import org.hghca.model.Simulation;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The first RTL never sends a packet twice: the driver detects that there is no more progress. */
class LostPacketTest {

  /** One side of a connection between two cards. */
  private static final class End implements AutoCloseable {
    final Context context;
    final ProtectionDomain pd;
    final CompletionQueue queue;
    final QueuePair qp;
    final MemoryRegion buffer;

    End(String name) {
      context =
          RdmaDevices.open(
              "model:lost-%s?mode=inline&sim=lost&cable=lost&profile=r1".formatted(name));
      pd = context.allocateProtectionDomain();
      queue = context.createCompletionQueue(64);
      qp =
          pd.createQueuePair(
              QueuePairConfig.rc(queue, queue).sendDepth(8).receiveDepth(8).signalAll());
      buffer = pd.allocate(4096, Set.of(AccessFlag.LOCAL_WRITE));
    }

    void ready(End peer) {
      qp.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
      qp.modify(
          ConnectionOptions.DEFAULT.toRtr(
              QpType.RC, new QpEndpoint(0, peer.qp.number(), 5, peer.context.queryGid(1, 0))));
    }

    void connected() {
      qp.modify(ConnectionOptions.DEFAULT.toRts(QpType.RC, 5).timeout(1).retryCount(1));
    }

    @Override
    public void close() {
      qp.close();
      buffer.close();
      queue.close();
      pd.close();
      context.close();
    }
  }

  @Test
  @Tag("hazard-9")
  void lostPacketEndsInATimeOutAndTheCardContinues() {
    try (Simulation simulation = Simulation.inline("lost");
        End left = new End("left");
        End right = new End("right")) {
      connect(left, right);
      simulation
          .hca("lost-left")
          .orElseThrow()
          .cable()
          .orElseThrow()
          .disturb(Disturbance.NONE.withDrop(1));
      right.qp.postReceive(new ReceiveRequest().wrId(7).into(right.buffer, 0, 4096));
      for (int i = 0; i < 3; i++) {
        left.qp.postSend(new SendRequest().send().wrId(i).sge(left.buffer, 0, 64));
      }
      List<Done> sends = TwoQueuePairs.await(left.queue, 3);
      assertThat(sends.getFirst().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertThat(sends).extracting(Done::wrId).containsExactly(0L, 1L, 2L);
      assertThat(sends.subList(1, 3)).allMatch(done -> done.status() == WcStatus.WR_FLUSH_ERR);
      assertThat(left.qp.state()).isEqualTo(QpState.ERR);
    }
  }

  private static void connect(End left, End right) {
    left.ready(right);
    right.ready(left);
    left.connected();
    right.connected();
  }
}

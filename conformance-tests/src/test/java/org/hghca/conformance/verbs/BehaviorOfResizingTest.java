package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Completion queues that are resized under datagrams. */
@Needs(Feature.RESIZE_CQ)
class BehaviorOfResizingTest {

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQTest.test_resize_cq",
      says = "a UD CQ of 3 resized to 1 and to 7; 6 unpolled: to 1 is EINVAL, and all 6 are kept")
  void resizeKeepsUnpolledCompletions() {
    RcSetup receiver = new RcSetup().type(QpType.UD).depth(10);
    try (Fabric fabric = Fabric.open();
        Side right = new Side(fabric, fabric.right(), receiver)) {
      Context context = fabric.left();
      // No queue pair has that number, and the datagrams are lost; or one receives them.
      int number = TestProfile.pick(Feature.MANY_PEERS, 0xff_fffe, right.qp.number());
      right.qp.activate(Player.QKEY);
      for (int i = 0; i < 6; i++) {
        right.postReceive(i, 0, 2048);
      }
      try (ProtectionDomain pd = context.allocateProtectionDomain();
          CompletionQueue queue = context.createCompletionQueue(3);
          MemoryRegion region = pd.allocate(1024, Side.ALL);
          QueuePair qp = pd.createQueuePair(QueuePairConfig.ud(queue, queue).sendDepth(10));
          AddressHandle way =
              pd.createAddressHandle(AddressVector.to(fabric.right().queryGid(1, 0), 0))) {
        ConnectionOptions options = ConnectionOptions.DEFAULT;
        qp.modify(options.toInit(QpType.UD));
        qp.modify(options.toRtr(QpType.UD, new QpEndpoint(0, 0, 0, context.queryGid(1, 0))));
        qp.modify(options.toRts(QpType.UD, 0));
        queue.resize(1);
        assertThat(queue.entries()).isGreaterThanOrEqualTo(1);
        queue.resize(7);
        assertThat(queue.entries()).isGreaterThanOrEqualTo(7);
        SendRequest send = new SendRequest();
        for (int i = 0; i < 6; i++) {
          send.send().wrId(i).sge(region).to(way, number, Player.QKEY).signaled();
          qp.postSend(send);
        }
        fabric.settle();
        fabric.await(() -> holdsSeveral(queue), () -> "nothing completes");
        assertThatThrownBy(() -> queue.resize(1))
            .isInstanceOf(VerbsException.class)
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
        assertThat(Wc.await(fabric, queue, 6))
            .allSatisfy(Side::assertSuccess)
            .extracting(Wc::wrId)
            .containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        queue.resize(1);
        assertThat(queue.entries()).isGreaterThanOrEqualTo(1);
      }
    }
  }

  private static boolean holdsSeveral(CompletionQueue queue) {
    try {
      queue.resize(1);
      return false;
    } catch (VerbsException e) {
      return true;
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** The order in which objects are closed, and the result of verbs on closed objects. */
class LifecycleTest {

  private static void assertFails(Errno errno, ThrowingCallable call, String... words) {
    assertThatThrownBy(call)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("%s (%d)", errno.name(), errno.number())
        .hasMessageContainingAll(words)
        .extracting("errno")
        .isEqualTo(errno);
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "closing a context, PD or CQ that is in use is EBUSY, and it continues to work")
  void closingAParentInUseNamesItsChildrenAndChangesNothing() {
    try (RcPair pair = RcPair.open()) {
      Side left = pair.left;
      String qp = "QP 0x%06x".formatted(left.qp.number());
      String mr = "MR 0x%08x".formatted(left.buffer.lkey());
      assertFails(Errno.EBUSY, left.context::close, "PD 0x", "CQ 0x");
      assertFails(Errno.EBUSY, left.pd::close, qp, mr);
      assertFails(Errno.EBUSY, left.sendQueue::close, qp);
      assertFails(Errno.EBUSY, left.receiveQueue::close, qp);
      new Transfer(left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 2000), Pieces.one(0, 2000));
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "everything closes in the order of use: QP, CQs, MR, PD")
  void parentsCloseOnceTheirChildrenAreClosed() {
    try (Fabric fabric = Fabric.open()) {
      ProtectionDomain pd = fabric.left().allocateProtectionDomain();
      CompletionQueue sends = fabric.left().createCompletionQueue(1);
      CompletionQueue receives = fabric.left().createCompletionQueue(1);
      MemoryRegion region = pd.allocate(10, Side.ALL);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(sends, receives));
      qp.close();
      sends.close();
      assertFails(Errno.EBUSY, pd::close, "MR 0x%08x".formatted(region.lkey()));
      region.close();
      pd.close();
      receives.close();
    }
  }

  @Test
  void closingTwiceDoesNothing() {
    for (int i = 0; i < 20; i++) {
      Context context = RdmaDevices.open(TestProfile.model("model:twice?mode=inline"));
      ProtectionDomain pd = context.allocateProtectionDomain();
      CompletionQueue queue = context.createCompletionQueue(1);
      MemoryRegion region = pd.allocate(10, Side.ALL);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(queue, queue));
      for (AutoCloseable each : new AutoCloseable[] {qp, region, queue, pd, context}) {
        assertThat(catchThrowable(each::close)).isNull();
        assertThat(catchThrowable(each::close)).isNull();
      }
    }
  }

  @Test
  void closingTwiceDoesNotCloseTheSuccessor() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      QueuePair old = pd.createQueuePair(QueuePairConfig.rc(queue, queue));
      old.close();
      try (QueuePair next = pd.createQueuePair(QueuePairConfig.rc(queue, queue))) {
        old.close();
        QpFixtures.bring(next, next, QpState.RTS);
        assertThat(next.query().state()).isEqualTo(QpState.RTS);
      }
      Context second = RdmaDevices.open(fabric.left().device().locator());
      second.close();
      second.close();
      assertThat(fabric.left().queryDevice().maxQp()).isPositive();
    }
  }

  @Test
  void closedQueuePairReturnsEinval() {
    try (RcPair pair = RcPair.open()) {
      QueuePair qp = pair.left.qp;
      qp.close();
      pair.left.send.send().sge(pair.left.buffer, 0, 8);
      pair.left.receive.into(pair.left.buffer, 0, 8);
      assertFails(Errno.EINVAL, () -> qp.postSend(pair.left.send), "closed");
      assertFails(Errno.EINVAL, () -> qp.tryPostSend(pair.left.send), "closed");
      assertFails(Errno.EINVAL, () -> qp.postReceive(pair.left.receive), "closed");
      assertFails(Errno.EINVAL, () -> qp.tryPostReceive(pair.left.receive), "closed");
      assertFails(Errno.EINVAL, () -> qp.modify(QpAttributes.to(QpState.ERR)), "closed");
      assertFails(Errno.EINVAL, qp::query, "closed");
    }
  }

  @Test
  void closedCompletionQueueReturnsEinval() {
    try (RcPair pair = RcPair.open()) {
      CompletionQueue queue = pair.left.context.createCompletionQueue(1);
      queue.close();
      assertFails(Errno.EINVAL, () -> queue.poll(new Completions(1)), "closed");
      assertFails(Errno.EINVAL, () -> queue.resize(1), "closed");
      assertFails(
          Errno.EINVAL,
          () -> pair.left.pd.createQueuePair(QueuePairConfig.rc(queue, queue)),
          "closed");
    }
  }

  @Test
  void closedProtectionDomainReturnsEinval() {
    try (Fabric fabric = Fabric.open();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      ProtectionDomain pd = fabric.left().allocateProtectionDomain();
      pd.close();
      assertFails(Errno.EINVAL, () -> pd.allocate(10, Side.ALL), "closed");
      assertFails(
          Errno.EINVAL, () -> pd.createQueuePair(QueuePairConfig.rc(queue, queue)), "closed");
    }
  }

  @Test
  void closedContextReturnsEinval() {
    Context context = RdmaDevices.open(TestProfile.model("model:closed?mode=inline"));
    context.close();
    assertFails(Errno.EINVAL, context::queryDevice, "closed");
    assertFails(Errno.EINVAL, () -> context.queryPort(1), "closed");
    assertFails(Errno.EINVAL, () -> context.queryGid(1, 0), "closed");
    assertFails(Errno.EINVAL, context::allocateProtectionDomain, "closed");
    assertFails(Errno.EINVAL, () -> context.createCompletionQueue(1), "closed");
  }

  @Test
  void memoryOfAClosedRegionThrowsOnAccess() {
    try (RcPair pair = RcPair.open()) {
      MemoryRegion region = pair.left.pd.allocate(4096, Side.ALL);
      MemorySegment memory = region.segment();
      memory.set(ValueLayout.JAVA_LONG, 0, 1);
      region.close();
      assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_LONG, 0))
          .isInstanceOf(IllegalStateException.class);
      // Also when the same memory is reused.
      try (MemoryRegion next = pair.left.pd.allocate(4096, Side.ALL)) {
        assertThat(next.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        assertThatThrownBy(() -> memory.set(ValueLayout.JAVA_LONG, 0, 2))
            .isInstanceOf(IllegalStateException.class);
        assertThat(next.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
      }
    }
  }

  @Test
  void capacityBeyondADeviceLimitIsRefusedWithTheLimit() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      var device = fabric.left().queryDevice();
      QueuePairConfig any = QueuePairConfig.rc(queue, queue);
      int wr = device.maxQpWr();
      int sge = device.maxSge();
      assertRefused(pd, any.sendDepth(wr + 1), "sendDepth", "0 to " + wr);
      assertRefused(pd, any.sendDepth(-1), "sendDepth");
      assertRefused(pd, any.sendDepth(0xffff_ffff), "sendDepth");
      assertRefused(pd, any.receiveDepth(wr + 1), "receiveDepth", "0 to " + wr);
      assertRefused(pd, any.receiveDepth(Integer.MAX_VALUE), "receiveDepth");
      assertRefused(pd, any.maxSendSge(0xffff), "maxSendSge");
      assertRefused(pd, any.maxReceiveSge(0xffff), "maxReceiveSge");
      assertRefused(pd, any.maxInline(device.maxInline() + 1), "maxInline");
      if (!TestProfile.isVirtio()) { // its rings hold both limits at once
        assertRefused(pd, any.sendDepth(wr).maxSendSge(sge), "queue of");
      }
    }
  }

  private static void assertRefused(ProtectionDomain pd, QueuePairConfig config, String... words) {
    assertFails(Errno.EINVAL, () -> pd.createQueuePair(config), words);
  }

  @Test
  void newQueuePairHasTheRequestedCapacityAndIsInReset() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      int sge = fabric.left().queryDevice().maxSge();
      int inline = fabric.left().queryDevice().maxInline();
      for (QueuePairCapabilities asked :
          new QueuePairCapabilities[] {
            new QueuePairCapabilities(0, 0, 0, 0, 0),
            new QueuePairCapabilities(1, 1, 1, 1, 0),
            new QueuePairCapabilities(3, 100, sge, 1, 0),
            new QueuePairCapabilities(100, 3, 1, sge, inline),
            new QueuePairCapabilities(1000, 1000, 2, 2, 64)
          }) {
        try (QueuePair qp =
            pd.createQueuePair(
                QueuePairConfig.rc(queue, queue)
                    .sendDepth(asked.sendDepth())
                    .receiveDepth(asked.receiveDepth())
                    .maxSendSge(asked.maxSendSge())
                    .maxReceiveSge(asked.maxReceiveSge())
                    .maxInline(asked.maxInline()))) {
          QueuePairCapabilities has = qp.capabilities();
          assertThat(has.sendDepth()).isGreaterThanOrEqualTo(asked.sendDepth());
          assertThat(has.receiveDepth()).isGreaterThanOrEqualTo(asked.receiveDepth());
          assertThat(has.maxSendSge()).isGreaterThanOrEqualTo(asked.maxSendSge());
          assertThat(has.maxReceiveSge()).isGreaterThanOrEqualTo(asked.maxReceiveSge());
          assertThat(has.maxInline()).isGreaterThanOrEqualTo(asked.maxInline());
          assertThat(qp.state()).isEqualTo(QpState.RESET);
          assertThat(qp.query().state()).isEqualTo(QpState.RESET);
          assertThat(qp.number()).isBetween(0, 0xff_ffff);
        }
      }
    }
  }
}

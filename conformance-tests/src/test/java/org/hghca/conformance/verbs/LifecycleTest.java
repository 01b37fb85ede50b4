package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.hghca.conformance.process.OtherJvm;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** The order in which objects are closed, and the result of verbs on closed objects. */
class LifecycleTest {

  /** Opens a device that runs by itself, creates one of each object, and closes none. */
  static final class Forgetful {
    private Forgetful() {}

    public static void main(String[] arguments) {
      Context context = RdmaDevices.open(TestProfile.model("model:forgotten"));
      ProtectionDomain pd = context.allocateProtectionDomain();
      MemoryRegion region = pd.allocate(1 << 20, Side.ALL);
      CompletionQueue queue = context.createCompletionQueue(1);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(queue, queue));
      System.out.print(region.length() + " bytes, " + qp.state());
    }
  }

  @Test
  @VerbsCase(says = "closing a context, PD or CQ that is in use is EBUSY, and it continues to work")
  void closingAParentInUseNamesItsChildrenAndChangesNothing() {
    try (RcPair pair = RcPair.open()) {
      Side left = pair.left;
      String qp = "QP 0x%06x".formatted(left.qp.number());
      String mr = "MR 0x%08x".formatted(left.buffer.lkey());
      assertErrno(Errno.EBUSY, left.context::close, "PD 0x", "CQ 0x");
      assertErrno(Errno.EBUSY, left.pd::close, qp, mr);
      assertErrno(Errno.EBUSY, left.sendQueue::close, qp);
      assertErrno(Errno.EBUSY, left.receiveQueue::close, qp);
      new Transfer(left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 2000), Pieces.one(0, 2000));
    }
  }

  @Test
  @VerbsCase(says = "everything closes in the order of use: QP, CQs, MR, PD")
  void parentsCloseOnceTheirChildrenAreClosed() {
    try (Fabric fabric = Fabric.open()) {
      ProtectionDomain pd = fabric.left().allocateProtectionDomain();
      CompletionQueue sends = fabric.left().createCompletionQueue(1);
      CompletionQueue receives = fabric.left().createCompletionQueue(1);
      MemoryRegion region = pd.allocate(10, Side.ALL);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(sends, receives));
      qp.close();
      sends.close();
      assertErrno(Errno.EBUSY, pd::close, "MR 0x%08x".formatted(region.lkey()));
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
      assertErrno(Errno.EINVAL, () -> qp.postSend(pair.left.send), "closed");
      assertErrno(Errno.EINVAL, () -> qp.tryPostSend(pair.left.send), "closed");
      assertErrno(Errno.EINVAL, () -> qp.postReceive(pair.left.receive), "closed");
      assertErrno(Errno.EINVAL, () -> qp.tryPostReceive(pair.left.receive), "closed");
      assertErrno(Errno.EINVAL, () -> qp.modify(QpAttributes.to(QpState.ERR)), "closed");
      assertErrno(Errno.EINVAL, qp::query, "closed");
    }
  }

  @Test
  void closedCompletionQueueReturnsEinval() {
    try (RcPair pair = RcPair.open()) {
      CompletionQueue queue = pair.left.context.createCompletionQueue(1);
      queue.close();
      assertErrno(Errno.EINVAL, () -> queue.poll(new Completions(1)), "closed");
      assertErrno(Errno.EINVAL, () -> queue.resize(1), "closed");
      assertErrno(
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
      assertErrno(Errno.EINVAL, () -> pd.allocate(10, Side.ALL), "closed");
      assertErrno(
          Errno.EINVAL, () -> pd.createQueuePair(QueuePairConfig.rc(queue, queue)), "closed");
    }
  }

  @Test
  void closedContextReturnsEinval() {
    Context context = RdmaDevices.open(TestProfile.model("model:closed?mode=inline"));
    context.close();
    assertErrno(Errno.EINVAL, context::queryDevice, "closed");
    assertErrno(Errno.EINVAL, () -> context.queryPort(1), "closed");
    assertErrno(Errno.EINVAL, () -> context.queryGid(1, 0), "closed");
    assertErrno(Errno.EINVAL, context::allocateProtectionDomain, "closed");
    assertErrno(Errno.EINVAL, () -> context.createCompletionQueue(1), "closed");
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
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_*",
      says = "max_send_wr or max_recv_wr 0xffffffff, or 0xffff SGEs either way, is EINVAL (on RC)")
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
      assertRefused(pd, any.receiveDepth(0xffff_ffff), "receiveDepth");
      assertRefused(pd, any.sendDepth(Integer.MAX_VALUE), "sendDepth");
      assertRefused(pd, any.maxSendSge(0xffff), "maxSendSge");
      assertRefused(pd, any.maxReceiveSge(0xffff), "maxReceiveSge");
      assertRefused(pd, any.maxInline(device.maxInline() + 1), "maxInline");
      if (!TestProfile.isVirtio()) { // its rings hold both limits at once
        assertRefused(pd, any.sendDepth(wr).maxSendSge(sge), "queue of");
      }
    }
  }

  private static void assertRefused(ProtectionDomain pd, QueuePairConfig config, String... words) {
    assertErrno(Errno.EINVAL, () -> pd.createQueuePair(config), words);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_alloc_pd",
      says = "a protection domain is allocated")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_dealloc_pd",
      says = "and deallocated")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_multiple_pd_creation",
      says = "200 times one after the other")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_destroy_pd_twice",
      says = "closing twice has no effect")
  void protectionDomainsAreAllocatedRepeatedlyAndClosedTwice() {
    try (Fabric fabric = Fabric.open()) {
      for (int i = 0; i < 200; i++) {
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        assertThat(pd.context()).isSameAs(fabric.left());
        pd.close();
        assertThatCode(pd::close).doesNotThrowAnyException();
      }
    }
  }

  @Test
  @VerbsCase(says = "closing the objects and the context removes every DMA mapping")
  void closingLeavesNoMapping() {
    List<SoftwareHca> hcas;
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      hcas = pair.fabric.hcas();
      new Transfer(pair.left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 5000), Pieces.one(0, 5000));
      assertThat(hcas).hasSize(2).allMatch(hca -> hca.dmaMappings() > 0);
    }
    assertThat(hcas).allMatch(hca -> hca.dmaMappings() == 0);
  }

  @Test
  @VerbsCase(says = "a JVM whose program leaves everything open exits, and all DMA mappings end")
  void programThatClosesNothingExits() {
    OtherJvm.Ended ended = OtherJvm.run(Forgetful.class);
    assertThat(ended.assertSuccess().said()).endsWith("1048576 bytes, RESET");
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Creating, querying and modifying reliable connections, as in rdma-core's tests. */
class BehaviorOfQueuePairsTest {

  /** Creates a queue pair of a type, checks its attributes, and brings it to RTS. */
  static void assertCreates(QpType type, boolean succeeds) {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(100);
        QueuePair qp = pd.createQueuePair(asked(type, queue))) {
      assertThat(qp.type()).isEqualTo(type);
      assertThat(qp.state()).isEqualTo(QpState.RESET);
      assertThat(qp.query().state()).isEqualTo(QpState.RESET);
      if (succeeds) {
        ConnectionOptions options = ConnectionOptions.DEFAULT;
        QpEndpoint peer = new QpEndpoint(0, qp.number(), 7, fabric.right().queryGid(1, 0));
        qp.modify(options.toInit(type));
        assertThat(qp.query().state()).isEqualTo(QpState.INIT);
        qp.modify(options.toRtr(type, peer));
        assertThat(qp.query().state()).isEqualTo(QpState.RTR);
        qp.modify(options.toRts(type, 9));
        assertThat(qp.query().state()).isEqualTo(QpState.RTS);
      }
    }
  }

  static QueuePairConfig asked(QpType type, CompletionQueue queue) {
    return QueuePairConfig.of(type, queue, queue)
        .sendDepth(10)
        .receiveDepth(11)
        .maxSendSge(3)
        .maxReceiveSge(2)
        .maxInline(64);
  }

  static void assertQuery(QpType type) {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(100);
        QueuePair qp = pd.createQueuePair(asked(type, queue))) {
      QueuePairCapabilities has = qp.capabilities();
      assertThat(has.sendDepth()).isGreaterThanOrEqualTo(10);
      assertThat(has.receiveDepth()).isGreaterThanOrEqualTo(11);
      assertThat(has.maxSendSge()).isGreaterThanOrEqualTo(3);
      assertThat(has.maxReceiveSge()).isGreaterThanOrEqualTo(2);
      assertThat(has.maxInline()).isGreaterThanOrEqualTo(64);
      assertThat(qp.query().state()).isEqualTo(QpState.RESET);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_rc_qp_no_attr",
      says = "an RC queue pair starts in RESET")
  void rcQueuePairStartsInReset() {
    assertCreates(QpType.RC, false);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_rc_qp_with_attr",
      says = "an RC queue pair goes to RTS")
  void rcQueuePairGoesToRts() {
    assertCreates(QpType.RC, true);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_rc_qp",
      says = "caps at least as requested, state RESET")
  void rcQueuePairHasTheRequestedCapacity() {
    assertQuery(QpType.RC);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_*",
      says = "max_send_wr or max_recv_wr 0xffffffff, or 0xffff SGEs either way, is EINVAL (on RC)")
  void illegalCapabilitiesAreInvalid() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(100)) {
      QueuePairConfig any = QueuePairConfig.rc(queue, queue);
      for (QueuePairConfig wrong :
          List.of(
              any.sendDepth(0xffff_ffff),
              any.receiveDepth(0xffff_ffff),
              any.sendDepth(0x7fff_ffff),
              any.receiveDepth(0x7fff_ffff),
              any.maxSendSge(0xffff),
              any.maxReceiveSge(0xffff))) {
        assertThatThrownBy(() -> pd.createQueuePair(wrong).close())
            .isInstanceOf(VerbsException.class)
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.RCQPTest.test_modify_rc_qp_rd_atomic",
      says = "12 READs and atomics requested each way, at least 12 reported")
  void twelveReadsAreOutstandingEachWay() {
    try (RcPair pair = new RcSetup().readAtomic(12).open()) {
      QpAttributes now = pair.left.qp.query();
      assertThat(now.maxReadAtomic()).isGreaterThanOrEqualTo(12);
      assertThat(now.maxDestinationReadAtomic()).isGreaterThanOrEqualTo(12);
    }
  }
}

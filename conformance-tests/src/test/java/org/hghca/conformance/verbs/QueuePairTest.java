package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Creating, querying and modifying queue pairs of every type. */
class QueuePairTest {

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC", "UD"})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_rc_qp_no_attr",
      says = "an RC queue pair starts in RESET")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_uc_qp_no_attr",
      says = "a UC queue pair starts in RESET")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_ud_qp_no_attr",
      says = "a UD queue pair starts in RESET")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_rc_qp",
      says = "caps at least as requested, state RESET")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_uc_qp",
      says = "caps at least as requested, state RESET")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_ud_qp",
      says = "caps at least as requested, state RESET")
  void newQueuePairOfAnyTypeHasTheRequestedCapacityAndIsInReset(QpType type) {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      int sge = fabric.left().queryDevice().maxSge();
      // The address of a datagram stands in the same slot.
      int inline = type == QpType.UD ? 64 : fabric.left().queryDevice().maxInline();
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
                QueuePairConfig.of(type, queue, queue)
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
          assertThat(qp.type()).isEqualTo(type);
          assertThat(qp.state()).isEqualTo(QpState.RESET);
          assertThat(qp.query().state()).isEqualTo(QpState.RESET);
          assertThat(qp.number()).isBetween(0, 0xff_ffff);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC", "UD"})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_rc_qp_with_attr",
      says = "an RC queue pair goes to RTS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_uc_qp_with_attr",
      says = "a UC queue pair goes to RTS")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_ud_qp_with_attr",
      says = "a UD queue pair goes to RTS")
  void queuePairOfAnyTypeGoesToRts(QpType type) {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(100);
        QueuePair qp = pd.createQueuePair(QueuePairConfig.of(type, queue, queue))) {
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

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_modify_ud_qp",
      says = "Q_Key 0x123 of INIT and SQ PSN 0x45 of RTS are queried; back to RESET")
  void udQueuePairReportsItsAttributes() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue = fabric.left().createCompletionQueue(100);
        QueuePair qp = pd.createQueuePair(QueuePairConfig.ud(queue, queue))) {
      qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).qkey(0x123));
      assertThat(qp.query().qkey()).isEqualTo(0x123);
      assertThat(qp.query().state()).isEqualTo(QpState.INIT);
      qp.modify(QpAttributes.to(QpState.RTR));
      assertThat(qp.query().state()).isEqualTo(QpState.RTR);
      qp.modify(QpAttributes.to(QpState.RTS).sendPsn(0x45));
      // Where datagrams must arrive in order, all senders start with PSN 0.
      assertThat(qp.query().sendPsn()).isEqualTo(TestProfile.pick(Feature.MANY_PEERS, 0x45, 0));
      assertThat(qp.query().qkey()).isEqualTo(0x123);
      assertThat(qp.query().state()).isEqualTo(QpState.RTS);
      TestProfile.require(Feature.MANY_PEERS, Feature.QUEUE_PAIR_NUMBERS_FOR_EVER);
      qp.modify(QpAttributes.to(QpState.RESET));
      assertThat(qp.query().state()).isEqualTo(QpState.RESET);
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

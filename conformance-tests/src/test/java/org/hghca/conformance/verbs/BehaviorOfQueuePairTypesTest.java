package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.junit.jupiter.api.Test;

/** Creating, querying and modifying queue pairs of types UC and UD. */
class BehaviorOfQueuePairTypesTest {

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_uc_qp_no_attr",
      says = "a UC queue pair starts in RESET")
  void ucQueuePairStartsInReset() {
    BehaviorOfQueuePairsTest.assertCreates(QpType.UC, false);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_uc_qp_with_attr",
      says = "a UC queue pair goes to RTS")
  void ucQueuePairGoesToRts() {
    BehaviorOfQueuePairsTest.assertCreates(QpType.UC, true);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_uc_qp",
      says = "caps at least as requested, state RESET")
  void ucQueuePairHasTheRequestedCapacity() {
    BehaviorOfQueuePairsTest.assertQuery(QpType.UC);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_ud_qp_no_attr",
      says = "a UD queue pair starts in RESET")
  void udQueuePairStartsInReset() {
    BehaviorOfQueuePairsTest.assertCreates(QpType.UD, false);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_create_ud_qp_with_attr",
      says = "a UD queue pair goes to RTS")
  void udQueuePairGoesToRts() {
    BehaviorOfQueuePairsTest.assertCreates(QpType.UD, true);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qp.QPTest.test_query_ud_qp",
      says = "caps at least as requested, state RESET")
  void udQueuePairHasTheRequestedCapacity() {
    BehaviorOfQueuePairsTest.assertQuery(QpType.UD);
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
        QueuePair qp = pd.createQueuePair(BehaviorOfQueuePairsTest.asked(QpType.UD, queue))) {
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
}

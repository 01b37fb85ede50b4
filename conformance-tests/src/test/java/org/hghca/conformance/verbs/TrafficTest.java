package org.hghca.conformance.verbs;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The traffic of rdma-core's tests between reliable connections. */
@Tag("rc")
class TrafficTest {
  private static void bothWays(RcSetup setup, WrOpcode opcode, int length) {
    try (RcPair pair = setup.open()) {
      pair.traffic(opcode, length, 100);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_send",
      says = "SEND both ways, completions and data")
  void sends() {
    bothWays(new RcSetup(), WrOpcode.SEND, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_send_imm",
      says = "SEND with immediate: IBV_WC_WITH_IMM and the peer's 32 bits")
  @Needs(Feature.SEND_WITH_IMMEDIATE)
  void sendsWithImmediate() {
    bothWays(new RcSetup(), WrOpcode.SEND_WITH_IMM, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write",
      says = "RDMA WRITE both ways, no completion at the target")
  void writes() {
    bothWays(new RcSetup(), WrOpcode.RDMA_WRITE, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_imm",
      says = "RDMA WRITE with immediate: RECV_RDMA_WITH_IMM at the target")
  @Needs(Feature.IMMEDIATE_VALUE)
  void writesWithImmediate() {
    bothWays(new RcSetup(), WrOpcode.RDMA_WRITE_WITH_IMM, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_zero_size",
      says = "empty RDMA WRITE succeeds")
  @Needs(Feature.ZERO_LENGTH)
  void emptyWrites() {
    bothWays(new RcSetup(), WrOpcode.RDMA_WRITE, 0);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read",
      says = "RDMA READ both ways fetches the peer's letter")
  void reads() {
    bothWays(new RcSetup(), WrOpcode.RDMA_READ, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read_zero_size",
      says = "empty RDMA READ succeeds")
  @Needs(Feature.ZERO_LENGTH)
  void emptyReads() {
    bothWays(new RcSetup(), WrOpcode.RDMA_READ, 0);
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_relaxed_ordering.RoTestCase.test_ro_rc_traffic",
      says = "RELAXED_ORDERING is accepted, and the traffic is as without it")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_relaxed_ordering.RoTestCase.test_ro_mr_ex_traffic",
      says = "the same, with the only register method")
  void trafficWithRelaxedOrdering() {
    RcSetup relaxed =
        new RcSetup()
            .bufferAccess(
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.RELAXED_ORDERING);
    bothWays(relaxed, WrOpcode.SEND, 1024);
    bothWays(relaxed, WrOpcode.RDMA_WRITE, 1024);
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_parent_domain.ParentDomainTrafficTest.test_without_allocators_rc_traffic",
      says = "RC traffic with the rings in the driver's memory")
  void trafficInASeparateDomain() {
    bothWays(new RcSetup().depth(10), WrOpcode.SEND, 1024);
  }
}

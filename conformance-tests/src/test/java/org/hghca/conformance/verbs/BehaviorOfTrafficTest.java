package org.hghca.conformance.verbs;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The traffic of rdma-core's tests between reliable connections: each player's letter arrives. */
@Tag("rc")
class BehaviorOfTrafficTest {
  private static final int ITERATIONS = 100;

  private static PlayerSetup rc() {
    return new PlayerSetup(QpType.RC);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_send",
      says = "SEND both ways, completions and data")
  void sends() {
    try (Players players = rc().open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_send_imm",
      says = "SEND with immediate: IBV_WC_WITH_IMM and the peer's 32 bits")
  @Needs(Feature.SEND_WITH_IMMEDIATE)
  void sendsWithImmediate() {
    try (Players players = rc().open()) {
      players.traffic(WrOpcode.SEND_WITH_IMM, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write",
      says = "RDMA WRITE both ways, no completion at the target")
  void writes() {
    try (Players players = rc().open()) {
      players.rdma(WrOpcode.RDMA_WRITE, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_imm",
      says = "RDMA WRITE with immediate: RECV_RDMA_WITH_IMM at the target")
  @Needs(Feature.IMMEDIATE_VALUE)
  void writesWithImmediate() {
    try (Players players = rc().open()) {
      players.traffic(WrOpcode.RDMA_WRITE_WITH_IMM, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_zero_size",
      says = "empty RDMA WRITE succeeds")
  @Needs(Feature.ZERO_LENGTH)
  void emptyWrites() {
    try (Players players = rc().messageSize(0).open()) {
      players.rdma(WrOpcode.RDMA_WRITE, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read",
      says = "RDMA READ both ways fetches the peer's letter")
  void reads() {
    try (Players players = rc().open()) {
      players.rdma(WrOpcode.RDMA_READ, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read_zero_size",
      says = "empty RDMA READ succeeds")
  @Needs(Feature.ZERO_LENGTH)
  void emptyReads() {
    try (Players players = rc().messageSize(0).open()) {
      players.rdma(WrOpcode.RDMA_READ, ITERATIONS);
    }
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
    try (Players players =
        rc().memoryAccess(
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.RELAXED_ORDERING)
            .open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
      players.rdma(WrOpcode.RDMA_WRITE, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_parent_domain.ParentDomainTrafficTest.test_without_allocators_rc_traffic",
      says = "RC traffic with the rings in the driver's memory")
  void trafficInASeparateDomain() {
    try (Players players = rc().depth(10).open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }
}

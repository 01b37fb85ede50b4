package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryWindowType;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Memory windows, which the device lacks, so that none can be used. */
class BehaviorOfMemoryWindowsTest {

  private static void assertUnsupported(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("EOPNOTSUPP (95)")
        .extracting("errno")
        .isEqualTo(Errno.EOPNOTSUPP);
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_type1",
      says = "a window of type 1 is bound and written through",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_ex_type1",
      says = "the same onto a region of ibv_reg_mr_ex",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_invalidate_mw_type1",
      says = "bound again with length 0: 'Remote access error'",
      unsupported = true)
  void windowsOfTypeOne() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertUnsupported(() -> pd.allocateMemoryWindow(MemoryWindowType.TYPE_1).close());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_type2",
      says = "a window of type 2 is bound by a send request and written through",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_type2_invalidate_local",
      says = "LOCAL_INV: 'Remote access error'",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_type2_invalidate_remote",
      says = "SEND_WITH_INV: 'Remote access error'",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MWTest.test_mw_type2_invalidate_dealloc",
      says = "the window is deallocated: 'Remote access error'",
      unsupported = true)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_bind_mw",
      says = "a window is bound by ibv_wr_bind_mw",
      unsupported = true)
  void windowsOfTypeTwo() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertUnsupported(() -> pd.allocateMemoryWindow(MemoryWindowType.TYPE_2).close());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a region with MW_BIND, to which windows may be bound",
      unsupported = true)
  void regionsForWindows() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertUnsupported(() -> pd.allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND).close());
    }
  }
}

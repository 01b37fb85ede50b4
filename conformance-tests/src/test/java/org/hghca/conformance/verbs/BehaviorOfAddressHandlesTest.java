package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Address handles, as in rdma-core's tests. */
class BehaviorOfAddressHandlesTest {

  private static void assertInvalid(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(VerbsException.class)
        .extracting("errno")
        .isEqualTo(Errno.EINVAL);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_addr.AHTest.test_create_ah",
      says = "an address handle with a global route is created")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_addr.AHTest.test_destroy_ah",
      says = "and destroyed; closing it twice has no effect")
  void handleWithAGlobalRouteIsCreated() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      AddressVector vector = AddressVector.to(fabric.right().queryGid(1, 0), 0);
      AddressHandle handle = pd.createAddressHandle(vector);
      assertThat(handle.vector()).isEqualTo(vector);
      assertThat(handle.protectionDomain()).isSameAs(pd);
      handle.close();
      assertThatCode(handle::close).doesNotThrowAnyException();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_addr.AHTest.test_create_ah_roce",
      says = "without a global route, which Ethernet needs, it is EINVAL")
  void handleWithoutAGlobalRouteIsInvalid() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertInvalid(() -> pd.createAddressHandle(AddressVector.to(Gid.NONE, 0)).close());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "an AH from a missing port or source GID, or to an unknown MAC, is EINVAL")
  void handleWithInvalidAttributesIsInvalid() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      Gid peer = fabric.right().queryGid(1, 0);
      int noGid = fabric.left().queryPort(1).gidTableLength();
      assertInvalid(() -> pd.createAddressHandle(AddressVector.to(peer, 0, 2)).close());
      assertInvalid(() -> pd.createAddressHandle(AddressVector.to(peer, noGid)).close());
      Gid stranger = Gid.ofIpv4(0x0b0c_0d0e);
      assertInvalid(() -> pd.createAddressHandle(AddressVector.to(stranger, 1)).close());
    }
  }
}

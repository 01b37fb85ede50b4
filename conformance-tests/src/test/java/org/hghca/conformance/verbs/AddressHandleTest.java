package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Address handles: the attributes they accept, their protection domain, and their end. */
class AddressHandleTest {
  private final RcPair pair = new RcSetup().type(QpType.UD).open();
  private final Side left = pair.left;

  @AfterEach
  void close() {
    pair.close();
  }

  private Gid rightGid(int index) {
    return pair.right.context.queryGid(1, index);
  }

  /** Datagrams on a card, or on a software HCA without its extensions. */
  private static RcPair onACard() {
    return new RcSetup()
        .type(QpType.UD)
        .on(Fabric.inline(TestProfile.pick(Feature.GRH, "&as=s", "")));
  }

  /** Every datagram of a card has a hop limit of 64, whatever was requested. */
  @OnlyOn(
      value = {"s", "r1", "r2"},
      why = "a virtio device sends the requested one")
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 64, 255})
  void handleOfACardReportsTheHopLimitThatIsSent(int hopLimit) {
    try (RcPair card = onACard()) {
      Gid gid = card.right.context.queryGid(1, 0);
      AddressVector vector = new AddressVector(gid, 0, 0, hopLimit, 0, 0, 1);
      try (AddressHandle handle = card.left.pd.createAddressHandle(vector)) {
        assertThat(handle.vector()).isEqualTo(AddressVector.to(gid, 0));
        assertThat(handle.protectionDomain()).isSameAs(card.left.pd);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 64", "1, 64", "7, 7", "64, 64", "255, 255"})
  @Needs(Feature.GRH)
  void handleOfASoftwareHcaReportsThePathThatIsSent(int hopLimit, int sent) {
    AddressVector vector = new AddressVector(rightGid(0), 0, 0x12345, hopLimit, 0xb8, 0, 1);
    try (AddressHandle handle = left.pd.createAddressHandle(vector)) {
      assertThat(handle.vector())
          .isEqualTo(new AddressVector(rightGid(0), 0, 0x12345, sent, 0xb8, 0, 1));
    }
  }

  @OnlyOn(
      value = {"s", "r1", "r2"},
      why = "a virtio device carries all but the service level, see the test below")
  @ParameterizedTest
  @CsvSource({
    "0x12345, 0, 0, flow label 0x12345",
    "0, 0xb8, 0, traffic class 0xb8",
    "0, 0, 3, service level 0x3"
  })
  void attributesThatADatagramDoesNotCarryAreRefused(
      int flowLabel, int trafficClass, int serviceLevel, String word) {
    try (RcPair card = onACard()) {
      Gid gid = card.right.context.queryGid(1, 0);
      AddressVector vector =
          new AddressVector(gid, 0, flowLabel, 64, trafficClass, serviceLevel, 1);
      assertErrno(Errno.EOPNOTSUPP, () -> card.left.pd.createAddressHandle(vector), word);
    }
  }

  @Test
  void serviceLevelIsRefused() {
    AddressVector vector = new AddressVector(rightGid(0), 0, 0, 64, 0, 3, 1);
    assertErrno(Errno.EOPNOTSUPP, () -> left.pd.createAddressHandle(vector), "service level");
  }

  @Test
  @Needs(Feature.GRH)
  void datagramCarriesTheAttributesOfItsHandle() {
    pair.right.postReceive(4, 0, 100);
    AddressVector asked = new AddressVector(rightGid(0), 0, 0, 1, 0, 0, 1);
    try (AddressHandle handle = left.pd.createAddressHandle(asked)) {
      SendRequest request =
          left.send.send().to(handle, pair.right.qp.number(), Side.QKEY).signaled();
      request.sge(left.buffer, 0, 8);
      left.qp.postSend(request);
      Side.assertSuccess(left.sent());
      Side.assertSuccess(pair.right.received());
      GlobalRouteHeader header = GlobalRouteHeader.of(pair.right.buffer.segment());
      assertThat(header.hopLimit()).isEqualTo(handle.vector().hopLimit());
      assertThat(header.flowLabel()).isEqualTo(handle.vector().flowLabel());
      assertThat(header.trafficClass()).isEqualTo(handle.vector().trafficClass());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_addr.AHTest.test_create_ah_roce",
      says = "without a global route, which Ethernet needs, it is EINVAL")
  void handleWithoutAGlobalRouteIsRefused() {
    assertErrno(Errno.EINVAL, () -> left.pd.createAddressHandle(AddressVector.to(Gid.NONE, 0)));
  }

  @Test
  void handleToAnUnknownMacIsRefusedUntilItIsAdded() {
    Gid gid = Gid.ofIpv4(0x0a63_6301);
    assertErrno(Errno.EINVAL, () -> left.pd.createAddressHandle(AddressVector.to(gid, 1)));
    left.context.addNeighbor(gid, 0x0200_0000_0042L);
    left.pd.createAddressHandle(AddressVector.to(gid, 1)).close();
  }

  @Test
  void handleKeepsItsDomainOpenUntilItIsClosed() {
    ProtectionDomain pd = left.context.allocateProtectionDomain();
    AddressHandle handle = pd.createAddressHandle(AddressVector.to(rightGid(0), 0));
    assertErrno(Errno.EBUSY, pd::close);
    handle.close();
    assertThatCode(handle::close).doesNotThrowAnyException();
    pd.close();
    assertErrno(Errno.EINVAL, () -> pd.createAddressHandle(AddressVector.to(rightGid(0), 0)));
  }

  @Test
  void handleServesOnlyQueuePairsOfItsDomain() {
    try (AddressHandle handle = left.pd.createAddressHandle(AddressVector.to(rightGid(0), 0));
        ProtectionDomain pd = left.context.allocateProtectionDomain();
        QueuePair other =
            pd.createQueuePair(QueuePairConfig.ud(left.sendQueue, left.receiveQueue))) {
      other.activate(Side.QKEY);
      pair.right.postReceive(4, 0, 100);
      SendRequest request = left.send.send().to(handle, pair.right.qp.number(), Side.QKEY);
      request.sge(left.buffer, 0, 8);
      assertErrno(Errno.EINVAL, () -> other.postSend(request));
      assertThatCode(() -> left.qp.postSend(request)).doesNotThrowAnyException();
    }
  }

  @Test
  void closingAHandleDoesNotAffectPostedRequests() {
    pair.right.postReceive(4, 0, 100);
    AddressHandle handle = left.pd.createAddressHandle(AddressVector.to(rightGid(0), 0));
    SendRequest request = left.send.send().to(handle, pair.right.qp.number(), Side.QKEY).signaled();
    request.sge(left.buffer, 0, 8);
    left.qp.postSend(request);
    handle.close();
    Side.assertSuccess(left.sent());
    Side.assertSuccess(pair.right.received());
    assertErrno(Errno.EINVAL, () -> left.qp.postSend(request));
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
  @VerbsCase(says = "an AH from a missing port or source GID, or to an unknown MAC, is EINVAL")
  void handleWithInvalidAttributesIsInvalid() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      Gid peer = fabric.right().queryGid(1, 0);
      int noGid = fabric.left().queryPort(1).gidTableLength();
      assertErrno(Errno.EINVAL, () -> pd.createAddressHandle(AddressVector.to(peer, 0, 2)).close());
      assertErrno(
          Errno.EINVAL, () -> pd.createAddressHandle(AddressVector.to(peer, noGid)).close());
      Gid stranger = Gid.ofIpv4(0x0b0c_0d0e);
      assertErrno(
          Errno.EINVAL, () -> pd.createAddressHandle(AddressVector.to(stranger, 1)).close());
    }
  }
}

package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.driver.ring.Destination;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.spi.ProviderAccess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AddressHandlesTest {
  private static final Gid PEER = Gid.ofIpv4(0xc0a8_0102);

  private final DriverFixture it = new DriverFixture();

  @AfterEach
  void close() {
    it.close();
  }

  private static void assertRefused(ThrowingCallable call, Errno errno, String complaint) {
    assertErrno(errno, call).hasMessageContaining(complaint);
  }

  private AddressHandle create(AddressVector vector) {
    return it.pd.createAddressHandle(vector);
  }

  @Test
  void handleKnowsItsDomainAndItsAddressVector() {
    it.context.addNeighbor(PEER, 0x0203_0405_0607L);
    try (AddressHandle handle = create(new AddressVector(PEER, 1, 5, 0, 7, 0, 1))) {
      assertThat(handle.vector()).isEqualTo(new AddressVector(PEER, 1, 5, 64, 7, 0, 1));
      assertThat(handle.protectionDomain()).isSameAs(it.pd);
    }
  }

  @Test
  void ownAddressesLeadToTheSameDevice() {
    for (int index : new int[] {0, 1}) {
      Gid own = it.context.queryGid(1, index);
      try (AddressHandle handle = create(AddressVector.to(own, index))) {
        assertThat(((Destination) handle).destinationMac).isEqualTo(it.device.address().mac());
      }
    }
  }

  @Test
  void invalidVectorsAreRefused() {
    assertRefused(() -> create(AddressVector.to(Gid.NONE, 0)), Errno.EINVAL, "global route");
    Gid local = Gid.ofMac(0x0203_0405_0607L);
    assertRefused(() -> create(AddressVector.to(local, 0, 2)), Errno.EINVAL, "port 2");
    assertRefused(() -> create(AddressVector.to(local, 2)), Errno.EINVAL, "GID index 2");
    assertRefused(() -> create(AddressVector.to(PEER, 1)), Errno.EINVAL, "addNeighbor");
    Gid own = it.context.queryGid(1, 0);
    AddressVector expedited = new AddressVector(own, 0, 0, 64, 0, 3, 1);
    assertRefused(() -> create(expedited), Errno.EOPNOTSUPP, "service level 0x3");
    // No handle is left in the domain: the fixture can close it.
  }

  @Test
  void handleIsClosedOnceAndKeepsItsDomain() {
    AddressHandle handle = create(AddressVector.to(Gid.ofMac(2), 0));
    assertRefused(it.pd::close, Errno.EBUSY, "AH to fe80");
    handle.close();
    assertThatCode(handle::close).doesNotThrowAnyException();
  }

  @Test
  void closedDomainCreatesNone() {
    HghcaProtectionDomain closed = (HghcaProtectionDomain) it.context.allocateProtectionDomain();
    closed.close();
    assertRefused(
        () -> closed.createAddressHandle(AddressVector.to(Gid.ofMac(2), 0)),
        Errno.EINVAL,
        "is closed");
  }

  private static Completions received(int flags) {
    Completions completions = new Completions(2);
    ProviderAccess.get().fill(completions, 1, 77, 0, WcOpcode.RECV.code(), 0, 2);
    ProviderAccess.get().fillMessage(completions, 1, 48, flags, 0, 3);
    return completions;
  }

  private MemorySegment header(Gid from, Gid to) {
    return MemorySegment.ofArray(
        HexFormat.of().parseHex("6b81234500601b21" + from.hex() + to.hex() + "00"));
  }

  @Test
  void handleOfACompletionFollowsTheHeader() {
    Gid from = Gid.ofMac(0x0203_0405_0607L);
    MemorySegment grh = header(from, it.context.queryGid(1, 0));
    try (AddressHandle handle = it.pd.createAddressHandle(received(Completions.GRH), 1, grh, 1)) {
      // The header's flow label, traffic class and hop limit differ from the sent ones.
      assertThat(handle.vector()).isEqualTo(new AddressVector(from, 0, 0, 64, 0, 0, 1));
      assertThat(((Destination) handle).destinationMac).isEqualTo(0x0203_0405_0607L);
    }
  }

  @Test
  void noHandleWithoutAHeaderOrForAnotherDestination() {
    Gid own = it.context.queryGid(1, 0);
    MemorySegment grh = header(Gid.ofMac(2), own);
    Completions with = received(Completions.GRH);
    assertRefused(
        () -> it.pd.createAddressHandle(received(Completions.WITH_IMM), 1, grh, 1),
        Errno.EINVAL,
        "wr_id 77");
    assertRefused(
        () -> it.pd.createAddressHandle(with, 1, grh.asSlice(0, 39), 1), Errno.EINVAL, "39");
    assertRefused(() -> it.pd.createAddressHandle(with, 1, grh, 2), Errno.EINVAL, "port 2");
    MemorySegment others = header(Gid.ofMac(2), Gid.ofMac(3));
    assertRefused(
        () -> it.pd.createAddressHandle(with, 1, others, 1), Errno.EINVAL, "is not one of");
    MemorySegment unknown = header(new Gid(0xfd00L << 48, 1), own);
    assertRefused(
        () -> it.pd.createAddressHandle(with, 1, unknown, 1), Errno.EINVAL, "addNeighbor");
    MemorySegment mixed = header(PEER, own);
    assertRefused(
        () -> it.pd.createAddressHandle(with, 1, mixed, 1), Errno.EINVAL, "such as index 1");
  }
}

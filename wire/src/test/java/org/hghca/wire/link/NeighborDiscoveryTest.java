package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.ArpFrame;
import org.hghca.wire.frame.NeighborFrame;
import org.junit.jupiter.api.Test;

/** Solicitations, advertisements and entries for IPv6 neighbors, at times that the test sets. */
final class NeighborDiscoveryTest {
  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final long PEER_MAC = 0x5254_0012_3456L;
  private static final long PREFIX = 0xfd00_0000_0000_0000L;
  private static final long OWN = 0x000a_0001L;
  private static final long PEER = 0x0012_3456L;
  private static final long SECOND = 1_000_000_000L;
  private static final int OWN_IPV4 = 0x0a00_0001;

  private final MemorySegment memory = Arena.ofAuto().allocate(128, 8);
  private final PortAddresses own =
      PortAddresses.NONE
          .with(0, IpAddress.lowOfIpv4(OWN_IPV4))
          .with(PREFIX, OWN)
          .withLinkLocal(OWN_MAC);
  private final AddressResolution resolution = new AddressResolution(OWN_MAC, own);

  private void hear(long now) {
    assertThat(resolution.heard(memory, 0, NeighborFrame.SIZE, now)).isTrue();
  }

  private void hearAnswer(long mac, long targetHigh, long targetLow) {
    NeighborFrame.writeAdvertisement(memory, 0, mac, targetHigh, targetLow, OWN_MAC, PREFIX, OWN);
    hear(0);
  }

  private long asked() {
    assertThat(resolution.write(memory, 0)).isEqualTo(86);
    assertThat(NeighborFrame.isNeighbor(memory, 0, 86)).isTrue();
    assertThat(NeighborFrame.isSolicitation(memory, 0)).isTrue();
    return NeighborFrame.targetLow(memory, 0);
  }

  @Test
  void addressIsSolicitedOnceASecondUntilItIsKnown() {
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isZero();
    assertThat(asked()).isEqualTo(PEER);
    assertThat(NeighborFrame.senderHigh(memory, 0)).isEqualTo(PREFIX);
    assertThat(NeighborFrame.senderLow(memory, 0)).isEqualTo(OWN);
    assertThat(NeighborFrame.mac(memory, 0)).isEqualTo(OWN_MAC);
    assertThat(resolution.resolve(PREFIX, PEER, SECOND - 1)).isZero();
    assertThat(resolution.hasFrames()).isFalse();
    assertThat(resolution.resolve(PREFIX, PEER, SECOND)).isZero();
    assertThat(asked()).isEqualTo(PEER);
    hearAnswer(PEER_MAC, PREFIX, PEER);
    assertThat(resolution.resolve(PREFIX, PEER, SECOND + 1)).isEqualTo(PEER_MAC);
    assertThat(resolution.hasFrames()).isFalse();
  }

  @Test
  void linkLocalNeighborIsSolicitedFromTheLinkLocalAddress() {
    resolution.resolve(0xfe80L << 48, 5, 0);
    assertThat(asked()).isEqualTo(5);
    assertThat(NeighborFrame.senderHigh(memory, 0)).isEqualTo(0xfe80L << 48);
    assertThat(NeighborFrame.senderLow(memory, 0)).isEqualTo(0x00ff_fe00_0001L);
  }

  @Test
  void eachFamilyUsesItsOwnProtocol() {
    resolution.resolve(0, IpAddress.lowOfIpv4(0x0a00_0002), 0);
    resolution.resolve(PREFIX, PEER, 0);
    assertThat(resolution.write(memory, 0)).isEqualTo(60);
    assertThat(ArpFrame.senderIp(memory, 0)).isEqualTo(OWN_IPV4);
    assertThat(asked()).isEqualTo(PEER);
    assertThat(resolution.write(memory, 0)).isZero();
  }

  @Test
  void familyWithoutAnOwnAddressIsNotSolicited() {
    AddressResolution ipv4 =
        new AddressResolution(OWN_MAC, PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(OWN_IPV4)));
    assertThat(ipv4.resolve(PREFIX, PEER, 0)).isZero();
    assertThat(ipv4.hasFrames()).isFalse();
  }

  @Test
  void solicitorIsAnsweredAndRemembered() {
    NeighborFrame.writeSolicitation(memory, 0, PEER_MAC, PREFIX, PEER, PREFIX, OWN);
    hear(0);
    assertThat(resolution.write(memory, 0)).isEqualTo(86);
    assertThat(NeighborFrame.isSolicitation(memory, 0)).isFalse();
    assertThat(NeighborFrame.targetLow(memory, 0)).isEqualTo(OWN);
    assertThat(NeighborFrame.mac(memory, 0)).isEqualTo(OWN_MAC);
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isEqualTo(PEER_MAC);
    assertThat(resolution.hasFrames()).isFalse();
  }

  @Test
  void solicitationForAnotherIsIgnored() {
    NeighborFrame.writeSolicitation(memory, 0, PEER_MAC, PREFIX, PEER, PREFIX, OWN + 1);
    hear(0);
    assertThat(resolution.hasFrames()).isFalse();
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isZero();
  }

  @Test
  void unsolicitedAdvertisementIsIgnored() {
    hearAnswer(PEER_MAC, PREFIX, PEER);
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isZero();
  }

  @Test
  void forgedOwnAddressAndGroupMacAreIgnored() {
    resolution.resolve(PREFIX, PEER, 0);
    hearAnswer(PEER_MAC, PREFIX, OWN);
    hearAnswer(0x3333_0000_0001L, PREFIX, PEER);
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isZero();
    assertThat(resolution.resolve(PREFIX, OWN, 0)).isZero();
  }

  @Test
  void onlyAnOverrideReplacesAnEntry() {
    resolution.resolve(PREFIX, PEER, 0);
    hearAnswer(PEER_MAC, PREFIX, PEER);
    NeighborFrame.writeAdvertisement(memory, 0, PEER_MAC + 1, PREFIX, PEER, OWN_MAC, PREFIX, OWN);
    // Without the flag, and with the matching checksum.
    memory.set(ValueLayout.JAVA_BYTE, 58, (byte) 0x40);
    int sum = memory.get(ValueLayout.JAVA_BYTE, 56) & 0xff;
    memory.set(ValueLayout.JAVA_BYTE, 56, (byte) (sum + 0x20));
    hear(0);
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isEqualTo(PEER_MAC);
    hearAnswer(PEER_MAC + 2, PREFIX, PEER);
    assertThat(resolution.resolve(PREFIX, PEER, 0)).isEqualTo(PEER_MAC + 2);
  }

  @Test
  void otherFramesAreIgnored() {
    memory.fill((byte) 0);
    assertThat(resolution.heard(memory, 0, 100, 0)).isFalse();
  }
}

package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.ArpFrame;
import org.junit.jupiter.api.Test;

/** Requests, replies and entries for neighbors, at times that the test sets. */
final class AddressResolutionTest {
  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final long PEER_MAC = 0x0200_0000_0002L;
  private static final int OWN = 0x0a00_0001;
  private static final int PEER = 0x0a00_0002;
  private static final long SECOND = 1_000_000_000L;

  private final MemorySegment memory = Arena.ofAuto().allocate(64, 8);
  private final AddressResolution resolution =
      new AddressResolution(OWN_MAC, PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(OWN)));

  private long resolve(int ip, long now) {
    return resolution.resolve(0, IpAddress.lowOfIpv4(ip), now);
  }

  /** Whether there was a frame, which is one of ARP. */
  private boolean write() {
    int bytes = resolution.write(memory, 0);
    assertThat(bytes).isIn(0, 60);
    return bytes > 0;
  }

  private boolean asks() {
    return write() && ArpFrame.isRequest(memory, 0);
  }

  private void hearReply(long mac, int ip, int to, long now) {
    ArpFrame.writeReply(memory, 0, mac, ip, OWN_MAC, to);
    resolution.heard(memory, 0, 60, now);
  }

  private void hearRequest(long mac, int ip, int target, long now) {
    ArpFrame.writeRequest(memory, 0, mac, ip, target);
    resolution.heard(memory, 0, 60, now);
  }

  @Test
  void addressIsRequestedOnceASecondUntilItIsKnown() {
    assertThat(resolve(PEER, 0)).isZero();
    assertThat(asks()).isTrue();
    assertThat(ArpFrame.targetIp(memory, 0)).isEqualTo(PEER);
    assertThat(ArpFrame.senderMac(memory, 0)).isEqualTo(OWN_MAC);
    assertThat(ArpFrame.senderIp(memory, 0)).isEqualTo(OWN);
    assertThat(resolve(PEER, SECOND - 1)).isZero();
    assertThat(asks()).isFalse();
    assertThat(resolve(PEER, SECOND)).isZero();
    assertThat(asks()).isTrue();
    hearReply(PEER_MAC, PEER, OWN, SECOND + 5);
    assertThat(resolve(PEER, SECOND + 6)).isEqualTo(PEER_MAC);
    assertThat(resolution.hasFrames()).isFalse();
  }

  @Test
  void oldEntryIsUsedAndRequestedAgain() {
    resolve(PEER, 0);
    hearReply(PEER_MAC, PEER, OWN, 0);
    while (resolution.hasFrames()) {
      write();
    }
    assertThat(resolve(PEER, 29 * SECOND)).isEqualTo(PEER_MAC);
    assertThat(resolution.hasFrames()).isFalse();
    assertThat(resolve(PEER, 30 * SECOND)).isEqualTo(PEER_MAC);
    assertThat(asks()).isTrue();
  }

  @Test
  void requesterIsAnsweredAndRemembered() {
    hearRequest(PEER_MAC, PEER, OWN, 0);
    assertThat(write()).isTrue();
    assertThat(ArpFrame.isRequest(memory, 0)).isFalse();
    assertThat(ArpFrame.senderMac(memory, 0)).isEqualTo(OWN_MAC);
    assertThat(ArpFrame.targetIp(memory, 0)).isEqualTo(PEER);
    assertThat(resolve(PEER, 0)).isEqualTo(PEER_MAC);
    assertThat(resolution.hasFrames()).isFalse();
  }

  @Test
  void probeIsAnsweredThoughItHasNoAddress() {
    hearRequest(PEER_MAC, 0, OWN, 0);
    assertThat(write()).isTrue();
    assertThat(ArpFrame.isRequest(memory, 0)).isFalse();
    assertThat(write()).isFalse();
  }

  @Test
  void framesOfOthersOnlyUpdateKnownEntries() {
    hearRequest(PEER_MAC, PEER, 0x0a00_0009, 0);
    assertThat(resolution.hasFrames()).isFalse();
    assertThat(resolve(PEER, 0)).isZero();
    hearRequest(PEER_MAC + 8, PEER, PEER, 0); // it announces its new MAC
    assertThat(resolve(PEER, 0)).isEqualTo(PEER_MAC + 8);
  }

  @Test
  void forgedOwnAddressAndGroupMacAreIgnored() {
    hearReply(PEER_MAC, OWN, OWN, 0);
    hearReply(0x0100_5e00_0001L, PEER, OWN, 0);
    hearReply(0, PEER, OWN, 0);
    assertThat(resolve(PEER, 0)).isZero();
  }

  @Test
  void floodOfUnknownSendersIsForgotten() {
    for (int i = 0; i < 5000; i++) {
      hearRequest(PEER_MAC, 0x0b00_0000 + i, OWN, 0);
    }
    assertThat(resolve(0x0b00_0000, 0)).isEqualTo(PEER_MAC);
    assertThat(resolve(0x0b00_0000 + 4999, 0)).isZero();
    int answers = 0;
    while (write()) {
      answers += ArpFrame.isRequest(memory, 0) ? 0 : 1;
    }
    assertThat(answers).isEqualTo(64);
  }

  /** Neither unknown senders nor addresses that do not answer prevent new neighbors. */
  @Test
  void fullTableHasRoomForDestinationsOfPackets() {
    resolve(PEER, 0);
    hearReply(PEER_MAC, PEER, OWN, 0);
    for (int i = 0; i < 2000; i++) {
      hearRequest(PEER_MAC + i, 0x0b00_0000 + i, OWN, 0);
    }
    for (int i = 0; i < 2000; i++) {
      assertThat(resolve(0x0c00_0000 + i, 0)).isZero();
    }
    int last = 0x0c00_0000 + 1999;
    hearReply(PEER_MAC + 5, last, OWN, 0);
    assertThat(resolve(last, 0)).isEqualTo(PEER_MAC + 5);
    assertThat(resolve(PEER, 0)).isEqualTo(PEER_MAC);
    int frames = 0;
    while (write()) {
      frames++;
    }
    assertThat(frames).isLessThanOrEqualTo(64 + 1024);
    assertThat(resolution.hasFrames()).isFalse();
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The verbs between virtio network cards with RoCE queues, and between one and a software HCA of
 * the interface document.
 */
@OnlyOn(value = "s", why = "the other side is a software HCA of the interface document")
class VirtioTrafficTest {
  private static final String BOTH = "virtio:vl%1$d?cable=v%1$d virtio:vr%1$d?cable=v%1$d";
  private static final String ON_HUB = "virtio:vl%1$d?hub=v%1$d virtio:vr%1$d?hub=v%1$d";
  private static final String TO_HCA = "virtio:vl%1$d?hub=v%1$d model:vr%1$d?hub=v%1$d";
  private static final String FROM_HCA = "model:vl%1$d?hub=v%1$d virtio:vr%1$d?hub=v%1$d";
  private static final String BOTH_UDP =
      "virtio:vl%1$d?net=udp:127.0.6.61 virtio:vr%1$d?net=udp:127.0.6.62";
  private static final String UDP_TO_HCA =
      "virtio:vl%1$d?net=udp:127.0.6.61 model:vr%1$d?net=udp:127.0.6.62";
  private static final String UDP_FROM_HCA =
      "model:vl%1$d?net=udp:127.0.6.61 virtio:vr%1$d?net=udp:127.0.6.62";
  private static final AtomicInteger NAMES = new AtomicInteger();

  /** Several packets, the last one of which is short. */
  private static final int LENGTH = 10_001;

  private final SplittableRandom random = new SplittableRandom(11);

  @BeforeAll
  static void needsTheModel() {
    TestProfile.requireModel();
  }

  private static RcPair pair(String locators, QpType type) {
    String[] both = locators.formatted(NAMES.incrementAndGet()).split(" ");
    return new RcPair(
        Fabric.on(both[0], both[1]),
        new RcSetup()
            .type(type)
            .mtu(Mtu.MTU_1024)
            .inline(64)
            .qpAccess(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
  }

  @ParameterizedTest
  @ValueSource(strings = {BOTH, ON_HUB, TO_HCA, FROM_HCA, BOTH_UDP, UDP_TO_HCA, UDP_FROM_HCA})
  void reliableConnection(String locators) {
    try (RcPair pair = pair(locators, QpType.RC)) {
      send(pair);
      write(pair);
      read(pair);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {BOTH, ON_HUB, TO_HCA, FROM_HCA, BOTH_UDP, UDP_TO_HCA, UDP_FROM_HCA})
  void unreliableConnection(String locators) {
    try (RcPair pair = pair(locators, QpType.UC)) {
      send(pair);
      write(pair);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {BOTH, ON_HUB, TO_HCA, FROM_HCA, BOTH_UDP, UDP_TO_HCA, UDP_FROM_HCA})
  void datagrams(String locators) {
    try (RcPair pair = pair(locators, QpType.UD)) {
      pair.left.randomize(0, 1000, random);
      pair.right.expectAnything(0, 40);
      pair.right.expect(40, pair.left, 0, 1000);
      pair.sendDatagram(1000);
      pair.right.expectAnything(0, 40);
      pair.right.verify("the datagram");
    }
  }

  /** The driver of either kind deals the requests, or the software HCA has such queues. */
  @ParameterizedTest
  @ValueSource(
      strings = {BOTH, ON_HUB, TO_HCA, FROM_HCA, FROM_HCA + "&as=s", UDP_TO_HCA, UDP_FROM_HCA})
  void sharedReceives(String locators) {
    String[] both = locators.formatted(NAMES.incrementAndGet()).split(" ");
    try (SharedReceivers it =
        new SharedReceivers(Fabric.on(both[0], both[1]), new RcSetup(), 16, 3, 64)) {
      it.post(0, 16);
      int[] received = new int[3];
      for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 3; i++) {
          it.send(i);
        }
        assertThat(it.sent(3)).allSatisfy(Side::assertSuccess);
        for (Wc wc : it.received(3)) {
          Side.assertSuccess(wc);
          assertThat(wc.bytes()).isEqualTo(8);
          for (int i = 0; i < 3; i++) {
            received[i] += wc.qpNumber() == it.receivers.get(i).number() ? 1 : 0;
          }
          assertThat(it.tryPost(wc.wrId())).isTrue();
        }
      }
      assertThat(received).containsOnly(40);
    }
  }

  private void send(RcPair pair) {
    pair.left.randomize(0, LENGTH, random);
    pair.right.postReceive(7, 100, LENGTH);
    pair.right.expect(100, pair.left, 0, LENGTH);
    pair.left.qp.postSend(
        request(pair).sendWithImmediate(0x01020304).sge(pair.left.buffer, 0, LENGTH).signaled());
    Side.assertSuccess(pair.left.sent());
    Wc received = pair.right.received();
    Side.assertSuccess(received);
    assertThat(received.wrId()).isEqualTo(7);
    assertThat(received.bytes()).isEqualTo(LENGTH);
    assertThat(received.immediate()).isEqualTo(0x01020304);
    pair.right.verify("what was sent");
  }

  private void write(RcPair pair) {
    pair.left.randomize(0, LENGTH, random);
    pair.right.expect(333, pair.left, 0, LENGTH);
    pair.left.qp.postSend(
        request(pair)
            .rdmaWrite(pair.right.address(333), pair.right.buffer.rkey())
            .sge(pair.left.buffer, 0, LENGTH)
            .signaled());
    Side.assertSuccess(pair.left.sent());
    pair.right.verifyWritten("what was written");

    pair.left.randomize(50, 60, random);
    pair.right.expect(20, pair.left, 50, 60);
    pair.right.postReceive(8, 0, 0);
    pair.left.qp.postSend(
        request(pair)
            .rdmaWriteWithImmediate(pair.right.address(20), pair.right.buffer.rkey(), 99)
            .inline(pair.left.memory().asSlice(50, 60))
            .signaled());
    Side.assertSuccess(pair.left.sent());
    Wc received = pair.right.received();
    assertThat(received.opcode()).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
    assertThat(received.immediate()).isEqualTo(99);
    pair.right.verify("what was written with an immediate");
  }

  private void read(RcPair pair) {
    pair.right.randomize(777, LENGTH, random);
    pair.left.expect(5, pair.right, 777, LENGTH);
    pair.left.qp.postSend(
        request(pair)
            .rdmaRead(pair.right.address(777), pair.right.buffer.rkey())
            .sge(pair.left.buffer, 5, LENGTH)
            .signaled());
    Wc completion = pair.left.sent();
    Side.assertSuccess(completion);
    assertThat(completion.bytes()).isEqualTo(LENGTH);
    pair.left.verify("what was read");
  }

  private static SendRequest request(RcPair pair) {
    return pair.left.send.wrId(5);
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.HcaCounters;
import org.hghca.model.ModelProvider;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.Locator;
import org.hghca.wire.link.LinkCounters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Software HCAs that exchange packets over the kernel's UDP, or by shared memory. */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
@ParameterizedClass
@CsvSource({
  "model:net-left?net=udp:127.0.6.11, model:net-right?net=udp:127.0.6.12",
  "model:net-left?net=shm:network&ip=127.0.6.11, model:net-right?net=shm:network&ip=127.0.6.12"
})
class NetworkTest {
  static final int MIB = 1 << 20;
  static final int[] SIZES = {0, 1, 255, 256, 257, 4095, 4096, 4097, 65536, MIB + 1};
  private static final AccessFlag[] ALL = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_ATOMIC
  };

  private final String left;
  private final String right;

  NetworkTest(String left, String right) {
    this.left = left;
    this.right = right;
  }

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private RcPair open(RcSetup setup) {
    return setup.on(Fabric.on(left, right));
  }

  static LinkCounters counters(String locator) {
    return ModelProvider.hca(Locator.parse(locator)).orElseThrow().linkCounters().orElseThrow();
  }

  static Stream<Arguments> connections() {
    return Stream.of(Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_4096)
        .flatMap(mtu -> Stream.of(WrOpcode.values()).map(opcode -> Arguments.of(opcode, mtu)));
  }

  @ParameterizedTest
  @MethodSource("connections")
  void reliableConnectionCarriesEverySize(WrOpcode opcode, Mtu mtu) {
    RcSetup setup = new RcSetup().mtu(mtu).bufferSize(MIB + 8192).bufferAccess(ALL).qpAccess(ALL);
    try (RcPair pair = open(setup)) {
      switch (opcode) {
        case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> add(pair);
        default -> sizes(pair, opcode, SIZES);
      }
      assertThat(counters(left).dropped()).isEmpty();
      assertThat(counters(left).notSent()).isEmpty();
      assertThat(counters(right).received()).isPositive();
    }
  }

  static void sizes(RcPair pair, WrOpcode opcode, int... sizes) {
    Transfer toRight = new Transfer(pair.left, pair.right, 1);
    Transfer toLeft = new Transfer(pair.right, pair.left, 2);
    for (int size : sizes) {
      toRight.run(opcode, Pieces.one(64, size), Pieces.one(131, size));
      toLeft.run(opcode, Pieces.one(3, size), Pieces.one(4096, size));
    }
  }

  @Test
  void disturbanceAppliesToReceivedPackets() {
    String disturbed = left + "&drop=0.1&duplicate=0.1&reorder=0.1&corrupt=0.1&seed=7";
    RcSetup setup = new RcSetup().mtu(Mtu.MTU_256).bufferSize(1 << 17).bufferAccess(ALL);
    try (RcPair pair = setup.qpAccess(ALL).on(Fabric.on(disturbed, right))) {
      sizes(pair, WrOpcode.RDMA_WRITE, 20_000, 20_001);
      sizes(pair, WrOpcode.RDMA_READ, 20_000, 20_001);
      HcaCounters counted = hcaCounters(disturbed);
      assertThat(counted.packetsDamaged()).isPositive();
      assertThat(counted.duplicates()).isPositive();
      assertThat(hcaCounters(right).packetsDamaged()).isZero();
      assertThat(hcaCounters(right).retries()).isPositive();
    }
  }

  private static HcaCounters hcaCounters(String locator) {
    return ModelProvider.hca(Locator.parse(locator)).orElseThrow().counters();
  }

  private static void add(RcPair pair) {
    pair.right.memory().set(ValueLayout.JAVA_LONG, 64, 1000);
    for (int i = 0; i < 100; i++) {
      pair.left.qp.postSend(
          pair.left
              .send
              .fetchAndAdd(pair.right.address(64), pair.right.buffer.rkey(), 3)
              .sge(pair.left.buffer, 8, 8)
              .signaled());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.left.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1000 + 3L * i);
    }
    assertThat(pair.right.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(1300);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE_WITH_IMM"})
  void unreliableConnectionCarriesMessages(WrOpcode opcode) {
    try (RcPair pair = open(new RcSetup().type(QpType.UC).mtu(Mtu.MTU_1024))) {
      sizes(pair, opcode, 0, 1, 1023, 1024, 1025, 9999);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 40, 4095, 4096})
  void datagramArrivesBehindAnIpv4HeaderWithTheReturnAddress(int length) {
    try (RcPair pair = open(new RcSetup().type(QpType.UD))) {
      Side sender = pair.left;
      Side receiver = pair.right;
      int index = sender.context.queryGidTable().size() - 1; // the only one, or behind the MAC's
      Gid own = sender.context.queryGid(1, index);
      sender.randomize(0, length, new SplittableRandom(length));
      receiver.postReceive(2, 8192, 40 + length);
      sender.postReceive(3, 8192, 40 + length);
      AddressVector to = AddressVector.to(receiver.context.queryGid(1, index), index);
      int queueKey = 0x1111_1111;
      try (AddressHandle handle = sender.pd.createAddressHandle(to)) {
        sender.qp.postSend(
            sender
                .send
                .send()
                .to(handle, receiver.qp.number(), queueKey)
                .sge(sender.buffer, 0, length)
                .signaled());
        Side.assertSuccess(sender.sent());
      }
      Completions found = new Completions(1);
      pair.fabric.await(() -> receiver.receiveQueue.poll(found) == 1, () -> "nothing has come");
      assertThat(found.opcode(0)).isEqualTo(WcOpcode.RECV);
      assertThat(found.byteLength(0)).isEqualTo(40 + length);
      assertThat(found.sourceQp(0)).isEqualTo(sender.qp.number());
      MemorySegment header = receiver.memory().asSlice(8192, 40);
      assertThat(GlobalRouteHeader.of(header).sourceGid()).isEqualTo(own);
      assertIpv4Header(header.asSlice(20), 28 + 20 + (length + 3 & ~3) + 4);
      try (AddressHandle back = receiver.pd.createAddressHandle(found, 0, header, 1)) {
        receiver.qp.postSend(
            receiver
                .send
                .send()
                .to(back, found.sourceQp(0), queueKey)
                .sge(receiver.buffer, 8192 + 40, length));
      }
      pair.fabric.await(() -> sender.receiveQueue.poll(found) == 1, () -> "nothing has come back");
      MemorySegment echo = sender.memory().asSlice(8192 + 40, length);
      assertThat(echo.mismatch(sender.memory().asSlice(0, length))).isEqualTo(-1);
    }
  }

  private static void assertIpv4Header(MemorySegment header, int totalLength) {
    byte[] bytes = header.toArray(ValueLayout.JAVA_BYTE);
    assertThat(bytes[0]).isEqualTo((byte) 0x45);
    assertThat(bytes[1]).isZero();
    assertThat((bytes[2] & 0xff) << 8 | bytes[3] & 0xff).isEqualTo(totalLength);
    assertThat(bytes[8]).isEqualTo((byte) 64);
    assertThat(List.of(bytes[12], bytes[15])).containsExactly((byte) 127, (byte) 11);
    assertThat(List.of(bytes[16], bytes[19])).containsExactly((byte) 127, (byte) 12);
    int sum = 0;
    for (int i = 0; i < 20; i += 2) {
      sum += (bytes[i] & 0xff) << 8 | bytes[i + 1] & 0xff;
    }
    assertThat((sum & 0xffff) + (sum >>> 16)).isEqualTo(0xffff);
  }

  @Test
  void queuePairReachesAnotherOfItsOwnDevice() {
    try (RcPair pair = new RcSetup().on(Fabric.on(left, left))) {
      sizes(pair, WrOpcode.SEND, 1, 5000);
      assertThat(counters(left).sent()).isZero();
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
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
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.Locator;
import org.hghca.wire.link.LinkCounters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Software HCAs that exchange RoCE v2 packets over the kernel's UDP. */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
class NetworkTest {
  private static final String LEFT = "model:net-left?net=udp:127.0.6.11";
  private static final String RIGHT = "model:net-right?net=udp:127.0.6.12";
  private static final int MIB = 1 << 20;
  private static final int[] SIZES = {0, 1, 255, 256, 257, 4095, 4096, 4097, 65536, MIB + 1};
  private static final AccessFlag[] ALL = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_ATOMIC
  };

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private static RcPair open(RcSetup setup) {
    return setup.on(Fabric.on(LEFT, RIGHT));
  }

  private static LinkCounters counters(String locator) {
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
      assertThat(counters(LEFT).dropped()).isEmpty();
      assertThat(counters(LEFT).notSent()).isEmpty();
      assertThat(counters(RIGHT).received()).isPositive();
    }
  }

  private static void sizes(RcPair pair, WrOpcode opcode, int... sizes) {
    Transfer toRight = new Transfer(pair.left, pair.right, 1);
    Transfer toLeft = new Transfer(pair.right, pair.left, 2);
    for (int size : sizes) {
      toRight.run(opcode, Pieces.one(64, size), Pieces.one(131, size));
      toLeft.run(opcode, Pieces.one(3, size), Pieces.one(4096, size));
    }
  }

  @Test
  void disturbanceAppliesToReceivedPackets() {
    String disturbed = LEFT + "&drop=0.1&duplicate=0.1&reorder=0.1&corrupt=0.1&seed=7";
    RcSetup setup = new RcSetup().mtu(Mtu.MTU_256).bufferSize(1 << 17).bufferAccess(ALL);
    try (RcPair pair = setup.qpAccess(ALL).on(Fabric.on(disturbed, RIGHT))) {
      sizes(pair, WrOpcode.RDMA_WRITE, 20_000, 20_001);
      sizes(pair, WrOpcode.RDMA_READ, 20_000, 20_001);
      HcaCounters left = hcaCounters(disturbed);
      assertThat(left.packetsDamaged()).isPositive();
      assertThat(left.duplicates()).isPositive();
      assertThat(hcaCounters(RIGHT).packetsDamaged()).isZero();
      assertThat(hcaCounters(RIGHT).retries()).isPositive();
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
      Side left = pair.left;
      Side right = pair.right;
      Gid own = left.context.queryGid(1, 0);
      left.randomize(0, length, new SplittableRandom(length));
      right.postReceive(2, 8192, 40 + length);
      left.postReceive(3, 8192, 40 + length);
      AddressVector to = AddressVector.to(right.context.queryGid(1, 0), 0);
      int queueKey = 0x1111_1111;
      try (AddressHandle handle = left.pd.createAddressHandle(to)) {
        left.qp.postSend(
            left.send
                .send()
                .to(handle, right.qp.number(), queueKey)
                .sge(left.buffer, 0, length)
                .signaled());
        Side.assertSuccess(left.sent());
      }
      Completions found = new Completions(1);
      pair.fabric.await(() -> right.receiveQueue.poll(found) == 1, () -> "nothing has come");
      assertThat(found.opcode(0)).isEqualTo(WcOpcode.RECV);
      assertThat(found.byteLength(0)).isEqualTo(40 + length);
      assertThat(found.sourceQp(0)).isEqualTo(left.qp.number());
      MemorySegment header = right.memory().asSlice(8192, 40);
      assertThat(GlobalRouteHeader.of(header).sourceGid()).isEqualTo(own);
      assertIpv4Header(header.asSlice(20), 28 + 20 + (length + 3 & ~3) + 4);
      try (AddressHandle back = right.pd.createAddressHandle(found, 0, header, 1)) {
        right.qp.postSend(
            right
                .send
                .send()
                .to(back, found.sourceQp(0), queueKey)
                .sge(right.buffer, 8192 + 40, length));
      }
      pair.fabric.await(() -> left.receiveQueue.poll(found) == 1, () -> "nothing has come back");
      MemorySegment echo = left.memory().asSlice(8192 + 40, length);
      assertThat(echo.mismatch(left.memory().asSlice(0, length))).isEqualTo(-1);
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
  void portHasTheAddressAndReachesOnlyIpv4() {
    try (RcPair pair = open(new RcSetup().unconnected())) {
      Context context = pair.left.context;
      Gid gid = Gid.ofIpv4(0x7f00_060b);
      assertThat(context.queryGidTable()).containsExactly(new GidEntry(gid, 1, 0, GidType.ROCE_V2));
      assertThat(context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
      QpEndpoint linkLocal = new QpEndpoint(0, 5, 0, Gid.ofMac(0x0200_0000_0001L));
      pair.left.qp.modify(pair.setup().connection().toInit(QpType.RC));
      assertErrno(
          Errno.EINVAL,
          () -> pair.left.qp.modify(pair.setup().connection().toRtr(QpType.RC, linkLocal)),
          "take a destination of the source's family, or add an address to ip=");
    }
  }

  /** Neither side knows the other's MAC address: both resolve it by ARP. */
  @Test
  void framesOverAStreamReachThePeer(@TempDir Path directory) {
    String place = directory.resolve("net").toString();
    String server = "model:net-server?net=stream:listen:%s&mtu=4200".formatted(place);
    String client = "model:net-client?net=stream:%s&mtu=4200".formatted(place);
    try (RcPair pair = new RcSetup().bufferSize(MIB + 8192).on(Fabric.on(server, client))) {
      assertThat(pair.left.context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
      assertThat(pair.right.context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
      for (WrOpcode opcode : List.of(WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ)) {
        sizes(pair, opcode, SIZES);
      }
      assertThat(counters(client).dropped()).isEmpty();
      assertThat(counters(client).notSent()).isEmpty();
    }
  }

  @Test
  void queuePairReachesAnotherOfItsOwnDevice() {
    try (RcPair pair = new RcSetup().on(Fabric.on(LEFT, LEFT))) {
      sizes(pair, WrOpcode.SEND, 1, 5000);
      assertThat(counters(LEFT).sent()).isZero();
    }
  }

  @Test
  void pathMtuIsLimitedByTheInterface() throws SocketException {
    List<String> narrow = new ArrayList<>();
    for (NetworkInterface candidate : NetworkInterface.networkInterfaces().toList()) {
      if (candidate.isUp() && candidate.getMTU() < 4096) {
        candidate.getInterfaceAddresses().stream()
            .map(InterfaceAddress::getAddress)
            .filter(Inet4Address.class::isInstance)
            .forEach(address -> narrow.add(address.getHostAddress()));
      }
    }
    assumeThat(narrow).as("addresses of interfaces that carry less than 4096 bytes").isNotEmpty();
    String locator = "model:net-narrow?net=udp:" + narrow.getFirst();
    RcSetup setup = new RcSetup().unconnected();
    try (RcPair pair = setup.on(Fabric.on(locator, locator))) {
      Mtu most = pair.left.context.queryPort(1).activeMtu();
      assertThat(most).isLessThan(Mtu.MTU_4096);
      assertThat(pair.left.context.queryPort(1).maxMtu()).isEqualTo(most);
      QpEndpoint peer = RcPair.endpoint(pair.right.qp, 0);
      pair.left.qp.modify(setup.connection().toInit(QpType.RC));
      assertErrno(
          Errno.EINVAL,
          () -> pair.left.qp.modify(setup.mtu(Mtu.MTU_4096).connection().toRtr(QpType.RC, peer)),
          "path MTU 4096");
      pair.left.qp.modify(setup.mtu(most).connection().toRtr(QpType.RC, peer));
    }
  }

  @Test
  void closingReleasesTheAddress() {
    for (int i = 0; i < 3; i++) {
      RdmaDevices.open(LEFT).close();
    }
    try (Context first = RdmaDevices.open(LEFT)) {
      assertErrno(
          Errno.EBUSY,
          () -> RdmaDevices.open("model:net-other?net=udp:127.0.6.11"),
          "UDP port 4791 is in use");
      assertThat(first.queryGidTable()).hasSize(1);
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is so of a network of UDP, or of frames, alone. */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
class UdpNetworkTest {
  private static final String LEFT = "model:net-left?net=udp:127.0.6.11";
  private static final String RIGHT = "model:net-right?net=udp:127.0.6.12";

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  @Test
  void portHasTheAddressAndReachesOnlyIpv4() {
    try (RcPair pair = new RcSetup().unconnected().on(Fabric.on(LEFT, RIGHT))) {
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
    try (RcPair pair =
        new RcSetup().bufferSize(NetworkTest.MIB + 8192).on(Fabric.on(server, client))) {
      assertThat(pair.left.context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
      assertThat(pair.right.context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
      for (WrOpcode opcode : List.of(WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ)) {
        NetworkTest.sizes(pair, opcode, NetworkTest.SIZES);
      }
      assertThat(NetworkTest.counters(client).dropped()).isEmpty();
      assertThat(NetworkTest.counters(client).notSent()).isEmpty();
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

package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connecting to the wildcard address, which is this host, and to addresses that no peer has. */
class ThisHostTest {
  private final Context context = RdmaDevices.open("model:thishost?cable=thishost&ip=10.0.0.1");

  @AfterEach
  void close() {
    assertThat(DeviceCarriers.count()).isZero();
    context.close();
  }

  private static InetSocketAddress at(String address, int port) {
    return new InetSocketAddress(InetAddress.ofLiteral(address), port);
  }

  private RdmaOptions options(CarrierKind kind) {
    return RdmaOptions.DEFAULT
        .withDevice(context)
        .withTimeout(TwoDevices.SOON)
        .withCarrier(kind)
        .withDepths(1, 1);
  }

  @ParameterizedTest
  @CsvSource({
    "IB, 0.0.0.0, 10.0.0.1",
    "IB, ::, 10.0.0.1",
    "TCP, 0.0.0.0, 127.0.0.1",
    "TCP, ::, 0:0:0:0:0:0:0:1"
  })
  void ofAnUnboundEnd(CarrierKind kind, String wildcard, String reached) throws Exception {
    try (RdmaServer server = RdmaServer.listen(at(wildcard, 0), options(kind))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      try (RdmaConnection active =
              RdmaConnection.connect(at(wildcard, server.localAddress().getPort()), options(kind));
          RdmaConnection passive = accepted.get()) {
        assertThat(active.remoteAddress()).isEqualTo(at(reached, server.localAddress().getPort()));
        assertThat(active.localAddress().getAddress()).isEqualTo(InetAddress.ofLiteral(reached));
        assertThat(passive.queuePair().state()).isEqualTo(QpState.RTS);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"IB, 10.0.0.1", "TCP, 127.0.0.3"})
  void ofABoundEnd(CarrierKind kind, String own) throws Exception {
    try (RdmaServer server = RdmaServer.listen(at(own, 0), options(kind))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      try (RdmaConnection active =
              RdmaConnection.connect(
                  at("0.0.0.0", server.localAddress().getPort()),
                  options(kind).withLocalAddress(at(own, 0)));
          RdmaConnection passive = accepted.get()) {
        assertThat(active.remoteAddress()).isEqualTo(server.localAddress());
        assertThat(passive.remoteAddress()).isEqualTo(active.localAddress());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"IB, 0.0.0.0", "IB, ::", "TCP, 0.0.0.0"})
  void withoutAListener(CarrierKind kind, String wildcard) throws Exception {
    int port = freePort(kind);
    try (EventChannel channel = EventChannel.open(context);
        CmId id = channel.createId(PortSpace.TCP)) {
      id.carrier(kind);
      id.resolveAddress(at(wildcard, port), TwoDevices.SOON);
      take(channel, CmEventType.ADDR_RESOLVED);
      id.resolveRoute(TwoDevices.SOON);
      take(channel, CmEventType.ROUTE_RESOLVED);
      id.connect(ConnectionParameters.DEFAULT.withQueuePair(17, false));
      assertThat(take(channel, CmEventType.REJECTED).status()).isEqualTo(8);
    }
  }

  private int freePort(CarrierKind kind) {
    try (RdmaServer server = RdmaServer.listen(at("0.0.0.0", 0), options(kind))) {
      return server.localAddress().getPort();
    }
  }

  private static CmEvent take(EventChannel channel, CmEventType type) throws InterruptedException {
    CmEvent event = channel.await(TwoDevices.SOON).orElseThrow();
    event.acknowledge();
    assertThat(event.type()).as(event.toString()).isEqualTo(type);
    return event;
  }

  /** The loopback address names one of them, or none. */
  @Test
  void ofSeveralDevices() {
    InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
    try (Context other = RdmaDevices.open("model:thathost?cable=thathost&ip=10.0.0.2")) {
      CmDevices both = CmDevices.of(other, context);
      assertErrno(Errno.ENODEV, () -> both.route(InetAddress.ofLiteral("0.0.0.0")));
      SharedDevice found = both.with(loopback, context).route(InetAddress.ofLiteral("0.0.0.0"));
      assertThat(found.context()).isEqualTo(context);
      found.release();
    }
  }

  private void assertRefused(String address, String why) {
    RdmaOptions bound = options(CarrierKind.IB).withLocalAddress(at("10.0.0.1", 0));
    for (RdmaOptions options : new RdmaOptions[] {options(CarrierKind.IB), bound}) {
      assertErrno(Errno.ENETUNREACH, () -> RdmaConnection.connect(at(address, 4711), options))
          .hasMessageContainingAll(address, why);
    }
  }

  @Test
  void noPeerHasABroadcastAddress() {
    assertRefused("255.255.255.255", "a broadcast address");
  }

  @Test
  void noPeerHasTheBroadcastAddressOfAnInterface() throws Exception {
    Optional<InetAddress> broadcast =
        NetworkInterface.networkInterfaces()
            .flatMap(one -> one.getInterfaceAddresses().stream())
            .map(InterfaceAddress::getBroadcast)
            .filter(Objects::nonNull)
            .findFirst();
    assumeThat(broadcast).as("an interface with a broadcast address").isPresent();
    assertRefused(broadcast.orElseThrow().getHostAddress(), "a broadcast address");
  }

  @ParameterizedTest
  @ValueSource(strings = {"239.1.2.3", "ff0e:0:0:0:0:0:0:1"})
  void noPeerHasTheAddressOfAGroup(String group) {
    assertRefused(group, "port space UDP");
  }

  @Test
  void datagramsReachGroups() throws Exception {
    try (EventChannel channel = EventChannel.open(context);
        CmId id = channel.createId(PortSpace.UDP)) {
      id.carrier(CarrierKind.IB);
      id.resolveAddress(at("239.1.2.3", 4711), TwoDevices.SOON);
      take(channel, CmEventType.ADDR_RESOLVED);
    }
  }
}

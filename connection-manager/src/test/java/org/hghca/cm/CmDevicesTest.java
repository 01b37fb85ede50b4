package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which device has which address. */
class CmDevicesTest {
  private static final String ADDRESSES = "hghca.cm.addresses";
  private static final String LEFT = "model:left?cable=devices&ip=10.0.0.1,fd00::1";
  private static final String RIGHT = "model:right?cable=devices";

  @AfterEach
  void clear() {
    System.clearProperty(ADDRESSES);
    assertThat(DeviceCarriers.count()).isZero();
  }

  private static String locator(String local) {
    SharedDevice found = CmDevices.system().find(InetAddress.ofLiteral(local));
    try {
      return found.context().device().locator();
    } finally {
      found.release();
    }
  }

  @Test
  void propertyGivesDevicesByAddressAndLocatorsHaveCommas() {
    System.setProperty(ADDRESSES, "127.0.0.7=%s,::1=%s".formatted(LEFT, RIGHT));

    assertThat(locator("127.0.0.7")).isEqualTo(LEFT);
    assertThat(locator("::1")).isEqualTo(RIGHT);
    assertThat(locator("fd00::1")).as("by its GID table").isEqualTo(LEFT);
  }

  @Test
  void malformedPropertyIsExplained() {
    System.setProperty(ADDRESSES, "hghca0");

    assertThatThrownBy(() -> CmDevices.system().find(InetAddress.getLoopbackAddress()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("must be <address>=<name or locator>,..., not 'hghca0'");
  }

  /** Both ends of a connection on one device, each with a context of its own. */
  @Test
  void contextsOfOneDeviceShareItsCarriers() throws Exception {
    try (Context here = RdmaDevices.open(LEFT);
        Context there = RdmaDevices.open(LEFT);
        EventChannel one = EventChannel.open(here);
        EventChannel other = EventChannel.open(there);
        CmId listener = one.createId(PortSpace.TCP);
        CmId active = other.createId(PortSpace.TCP)) {
      InetAddress own = InetAddress.ofLiteral("10.0.0.1");
      listener.bind(new InetSocketAddress(own, 0));
      listener.listen(1);
      active.bind(new InetSocketAddress(own, 0));
      active.resolveAddress(listener.localAddress(), Duration.ofSeconds(20));
      try (CmEvent resolved = other.await(Duration.ofSeconds(20)).orElseThrow()) {
        assertThat(resolved.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
      }
      assertThat(listener.context()).isEqualTo(here);
      assertThat(active.context()).isEqualTo(there);
      assertThat(DeviceCarriers.count()).isEqualTo(1);
    }
  }

  /** The device has no address of the peer's family. */
  @Test
  void addressThatCannotBeReachedLeavesNoUserOfTheDevice() throws Exception {
    try (Context context = RdmaDevices.open(RIGHT)) {
      try (EventChannel channel = EventChannel.open(context);
          CmId id = channel.createId(PortSpace.TCP)) {
        id.carrier(CarrierKind.IB);
        id.resolveAddress(
            new InetSocketAddress(InetAddress.ofLiteral("2001:db8::9"), 1), Duration.ofSeconds(20));
        try (CmEvent event = channel.await(Duration.ofSeconds(20)).orElseThrow()) {
          assertThat(event.type()).isEqualTo(CmEventType.ADDR_ERROR);
        }
        assertThat(DeviceCarriers.count()).isZero();
      }
    }
  }

  @Test
  void connectionsOverTheDevicesOfThePropertyCloseThem() throws Exception {
    System.setProperty(ADDRESSES, "127.0.0.7=%s,127.0.0.8=%s".formatted(LEFT, RIGHT));
    RdmaOptions options =
        RdmaOptions.DEFAULT.withTimeout(Duration.ofSeconds(20)).withCarrier(CarrierKind.TCP);
    RdmaConnection passive;
    RdmaConnection active;
    try (RdmaServer server =
        RdmaServer.listen(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.7"), 0), options)) {
      CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
      Thread.startVirtualThread(
          () -> {
            try {
              accepted.complete(server.accept(Duration.ofSeconds(20)).orElseThrow());
            } catch (InterruptedException | RuntimeException e) {
              accepted.completeExceptionally(e);
            }
          });
      active =
          RdmaConnection.connect(
              server.localAddress(),
              options.withLocalAddress(
                  new InetSocketAddress(InetAddress.ofLiteral("127.0.0.8"), 0)));
      passive = accepted.get(20, TimeUnit.SECONDS);
    }
    active.close();
    passive.close();
    assertThat(passive.closed()).isDone();
    assertThat(DeviceCarriers.count()).isZero();
  }

  @Test
  void unknownHostIsExplained() {
    try (EventChannel channel = EventChannel.open(CmDevices.of());
        CmId id = channel.createId(PortSpace.TCP)) {
      InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
      assertThatThrownBy(() -> id.resolveAddress(unknown, Duration.ofSeconds(1)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("nowhere.invalid is not known: EHOSTUNREACH");
    }
  }
}

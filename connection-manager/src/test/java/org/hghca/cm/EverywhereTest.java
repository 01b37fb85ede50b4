package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.ib.IbCarrier;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Listening on the wildcard address with two devices. */
class EverywhereTest {
  private static final String ADDRESSES = "hghca.cm.addresses";
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String LEFT = "model:everyleft?hub=every&ip=10.0.0.1";
  private static final String RIGHT = "model:everyright?hub=every&ip=10.0.0.2";

  private final Context left = RdmaDevices.open(LEFT);
  private final Context right = RdmaDevices.open(RIGHT);

  @AfterEach
  void close() {
    System.clearProperty(ADDRESSES);
    assertThat(DeviceCarriers.count()).isZero();
    left.close();
    right.close();
  }

  private static CmId listener(EventChannel channel, CarrierKind kind) {
    CmId listener = channel.createId(PortSpace.TCP);
    listener.carrier(kind);
    return listener;
  }

  /** Who asks at the TCP port is served by one device. */
  private void assertServedBy(Context device, CmDevices devices) throws Exception {
    try (EventChannel channel = EventChannel.open(devices);
        CmId listener = listener(channel, CarrierKind.TCP)) {
      listener.bind(new InetSocketAddress(0));
      listener.listen(1);
      int port = listener.localAddress().getPort();
      CompletableFuture<Void> asks =
          CompletableFuture.runAsync(() -> assertRefused(port), Thread::startVirtualThread);
      try (CmEvent event = channel.await(SOON).orElseThrow();
          CmId asked = event.id()) {
        assertThat(asked.context().device()).isEqualTo(device.device());
        asked.reject(new byte[0]);
      }
      asks.get(20, TimeUnit.SECONDS);
    }
  }

  private void assertRefused(int port) {
    RdmaOptions options =
        RdmaOptions.DEFAULT.withDevice(right).withCarrier(CarrierKind.TCP).withTimeout(SOON);
    assertErrno(
        Errno.ECONNREFUSED,
        () ->
            RdmaConnection.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port), options));
  }

  @Test
  void tcpPortIsThatOfTheFirstDevice() throws Exception {
    assertServedBy(left, CmDevices.of(left, right));
  }

  @Test
  void tcpPortIsThatOfTheDeviceWhichAnAddressNames() throws Exception {
    assertServedBy(right, CmDevices.of(left).with(InetAddress.getLoopbackAddress(), right));
  }

  @Test
  void portOfAnotherProgramIsRefused() throws IOException {
    try (ServerSocket other = new ServerSocket(0);
        EventChannel channel = EventChannel.open(CmDevices.of(left, right));
        CmId listener = listener(channel, CarrierKind.TCP)) {
      listener.bind(new InetSocketAddress(other.getLocalPort()));
      assertErrno(Errno.EADDRINUSE, () -> listener.listen(1));
    }
  }

  @Test
  void deviceWhoseQueuePair1IsInUseIsSkipped() {
    try (IbCarrier _ = IbCarrier.of(left);
        EventChannel channel = EventChannel.open(CmDevices.of(left, right));
        CmId listener = listener(channel, CarrierKind.IB)) {
      listener.bind(new InetSocketAddress(0));
      listener.listen(1);
      assertThat(DeviceCarriers.count()).as("that which listens").isEqualTo(1);
    }
  }

  @Test
  void errorNamesTheReasonOfEachDeviceAndTheRemedy() {
    try (IbCarrier _ = IbCarrier.of(left);
        IbCarrier _ = IbCarrier.of(right);
        EventChannel channel = EventChannel.open(CmDevices.of(left, right));
        CmId listener = listener(channel, CarrierKind.IB)) {
      listener.bind(new InetSocketAddress(0));
      assertErrno(Errno.EBUSY, () -> listener.listen(1))
          .hasMessageContainingAll(
              "no RDMA device can listen: " + left.device().name() + ": queue pair 1",
              right.device().name() + ": queue pair 1",
              "--cm-addresses=<address>=<name or locator>,... names them");
      assertThat(DeviceCarriers.count()).isZero();
    }
  }

  @Test
  void deviceThatDoesNotOpenIsSkipped() {
    System.setProperty(ADDRESSES, "10.0.0.9=pci:9999:99:99.9,10.0.0.1=" + LEFT);
    try (EventChannel channel = EventChannel.open(CmDevices.system());
        CmId listener = listener(channel, CarrierKind.IB)) {
      listener.bind(new InetSocketAddress(0));
      listener.listen(1);
    }
  }
}

package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.DeviceContext;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A device that fails under identifiers: {@link CmEventType#DEVICE_REMOVAL}. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class DeviceRemovalTest {
  private static final String LOCATOR = "model:removed?cable=removed&ip=10.0.0.1";
  private static final String WHY = "the card was pulled out";

  private final CarrierKind kind;
  private final HghcaDevice device = BringUp.of(PciFunctions.open(Locator.parse(LOCATOR)));
  private final Context context =
      new DeviceContext(new RdmaDevice("removed", LOCATOR, 1), device, device::close);
  private final EventChannel channel = EventChannel.open(context);

  DeviceRemovalTest(CarrierKind kind) {
    this.kind = kind;
  }

  @AfterEach
  void close() {
    channel.close();
    context.close();
  }

  private void fail() {
    device.card().health().fail(WHY);
  }

  private InetSocketAddress local() {
    return new InetSocketAddress(
        InetAddress.ofLiteral(kind == CarrierKind.TCP ? "127.0.0.1" : "10.0.0.1"), 0);
  }

  private CmId bound() {
    CmId id = channel.createId(PortSpace.TCP);
    id.carrier(kind);
    id.bind(local());
    return id;
  }

  private CmEvent take() throws InterruptedException {
    CmEvent event = channel.await(TwoDevices.SOON).orElseThrow();
    event.acknowledge();
    return event;
  }

  @Test
  void eachIdentifierOfTheDeviceIsTold() throws Exception {
    try (CmId listener = bound();
        CmId idle = bound();
        CmId unbound = channel.createId(PortSpace.TCP)) {
      listener.listen(1);
      fail();
      CmEvent one = take();
      CmEvent other = take();
      assertThat(Set.of(one.id(), other.id())).containsExactlyInAnyOrder(listener, idle);
      assertThat(EnumSet.of(one.type(), other.type())).containsOnly(CmEventType.DEVICE_REMOVAL);
      assertThat(one.status()).isEqualTo(-Errno.EIO.number());
      assertThat(one.message()).contains(WHY);
      assertThat(unbound.toString()).endsWith("IDLE");
    }
  }

  @Test
  void listenerForAllAddressesIsToldOnce() throws Exception {
    try (CmId listener = channel.createId(PortSpace.TCP)) {
      listener.carrier(kind);
      listener.bind(new InetSocketAddress(0));
      listener.listen(1);
      CmId idle = bound();
      fail();
      CmId first = take().id();
      CmId second = take().id();
      assertThat(List.of(first, second)).containsExactlyInAnyOrder(listener, idle);
      idle.close();
      assertThat(channel.poll()).isEmpty();
    }
  }

  @Test
  void connectionEndsAndIsClosedByTheProgram() throws Exception {
    try (Context peer = RdmaDevices.open("model:stays?cable=removed&ip=10.0.0.2")) {
      RdmaOptions options = RdmaOptions.DEFAULT.withCarrier(kind).withTimeout(TwoDevices.SOON);
      RdmaConnection passive;
      RdmaConnection active;
      try (RdmaServer server = RdmaServer.listen(local(), options.withDevice(context))) {
        CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
        active = RdmaConnection.connect(server.localAddress(), options.withDevice(peer));
        passive = accepted.get(20, TimeUnit.SECONDS);
        fail();
        passive.closed().get(20, TimeUnit.SECONDS);
        assertErrno(Errno.EIO, () -> server.next(TwoDevices.SOON)).hasMessageContaining(WHY);
      }
      passive.close();
      active.close();
    }
  }
}

package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Requests;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The backlog, with requests of no carrier. */
class ListeningTest {
  private static final PrivateData NONE = PrivateData.EMPTY;

  private final Context context = RdmaDevices.open("model:backlog?cable=backlog&ip=10.0.0.1");
  private final EventChannel channel = EventChannel.open(context);
  private final CmId id = channel.createId(PortSpace.TCP);
  private final List<Listener> listeners = new ArrayList<>();
  private SharedDevice device;

  /** A handshake without a peer. */
  private static final class Silent implements Handshake {
    @Override
    public void reply(ConnectReply reply) {}

    @Override
    public void confirm(PrivateData privateData) {}

    @Override
    public void reject(int reason, PrivateData privateData) {}

    @Override
    public void firstPacket() {}

    @Override
    public void disconnect(PrivateData privateData) {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void listen() {
    device = SharedDevice.of(context);
    id.carrier(CarrierKind.TCP);
    id.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    id.listen(8);
  }

  @AfterEach
  void close() {
    id.close();
    channel.close();
    device.release();
    context.close();
    assertThat(DeviceCarriers.count()).isZero();
  }

  private void backlog(int places) {
    new Listening(id, places)
        .add(
            device,
            listener -> {
              listeners.add(listener);
              return () -> {};
            });
  }

  private Optional<HandshakeEvents> ask() {
    return ask("127.0.0.1");
  }

  private Optional<HandshakeEvents> ask(String peer) {
    ConnectRequest request =
        Requests.of(
            1,
            id.localAddress(),
            new InetSocketAddress(peer, 40000),
            Requests.loop(context),
            0x11,
            1);
    return listeners.getFirst().requested(new Silent(), request);
  }

  /** The requests of which the program learns. */
  private List<CmId> taken() {
    List<CmId> requests = new ArrayList<>();
    for (Optional<CmEvent> next = channel.poll(); next.isPresent(); next = channel.poll()) {
      CmEvent event = next.get();
      event.acknowledge();
      if (event.type() == CmEventType.CONNECT_REQUEST) {
        requests.add(event.id());
      }
    }
    return requests;
  }

  @Test
  void requestsThatFailUntakenKeepTheirPlace() {
    backlog(2);
    for (int peer = 0; peer < 100; peer++) {
      ask().ifPresent(events -> events.rejected(4, NONE));
    }
    List<CmId> requests = taken();
    assertThat(requests).hasSize(2);
    assertThat(ask()).as("taken requests leave their places").isPresent();
    requests.forEach(CmId::close);
  }

  @Test
  void addressThatFillsTheBacklogDoesNotKeepOutOthers() {
    backlog(128);
    int taken = 0;
    for (int request = 0; request < 1000; request++) {
      taken += ask("192.0.2.1").isPresent() ? 1 : 0;
    }
    assertThat(taken).isEqualTo(126);
    assertThat(ask("192.0.2.2")).isPresent();
    assertThat(ask("192.0.2.3")).isPresent();
    assertThat(ask("192.0.2.3")).as("all places are taken").isEmpty();

    List<CmId> requests = taken();
    assertThat(requests).hasSize(128);
    requests.getFirst().reject(new byte[0]);
    assertThat(ask("192.0.2.1")).as("as soon as one of its own is answered").isPresent();
    assertThat(ask("192.0.2.1")).isEmpty();
    requests.addAll(taken());
    requests.forEach(CmId::close);
  }

  @Test
  void requestThatThrowsLeavesItsPlace() {
    backlog(1);
    id.close();
    channel.close();
    for (int peer = 0; peer < 3; peer++) {
      assertThatThrownBy(this::ask)
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("closed");
    }
  }
}

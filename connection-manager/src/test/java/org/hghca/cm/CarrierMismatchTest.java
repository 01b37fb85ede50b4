package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.hghca.verbs.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two ends with different carriers: who asks hears which carrier it has asked by. */
class CarrierMismatchTest {
  private final TwoDevices it = new TwoDevices(CarrierKind.IB, "");

  @AfterEach
  void close() {
    it.close();
  }

  private CmId listen(CarrierKind kind, String address) {
    CmId listener = it.server.id(PortSpace.TCP);
    listener.carrier(kind);
    listener.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
    listener.listen(8);
    return listener;
  }

  private CmEvent answer(CarrierKind kind, InetSocketAddress to) throws InterruptedException {
    CmId id = it.client.id(PortSpace.TCP);
    id.carrier(kind);
    id.resolveAddress(to, TwoDevices.SOON);
    it.client.take(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(TwoDevices.SOON);
    it.client.take(CmEventType.ROUTE_RESOLVED);
    id.createQueuePair(it.client.pd, it.client.config(PortSpace.TCP));
    id.connect();
    CmEvent event = it.client.channel.await(TwoDevices.SOON).orElseThrow();
    event.acknowledge();
    return event;
  }

  /** The device has an InfiniBand connection manager, which has no listener on the port. */
  @Test
  void requestByInfiniBandToAListenerOfTcp() throws Exception {
    CmId listener = listen(CarrierKind.TCP, "127.0.0.1");
    listen(CarrierKind.IB, "10.0.0.2");
    int port = listener.localAddress().getPort();
    CmEvent event =
        answer(CarrierKind.IB, new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), port));
    assertThat(event.type()).isEqualTo(CmEventType.REJECTED);
    assertThat(event.status()).isEqualTo(8);
    assertThat(event.message())
        .isEqualTo("/10.0.0.2:%d by IB: no listener on the port, with this carrier", port);
    assertThat(it.server.channel.poll()).as("the listener hears nothing").isEmpty();
  }

  @Test
  void requestByTcpToAListenerOfInfiniBand() throws Exception {
    CmId listener = listen(CarrierKind.IB, "10.0.0.2");
    int port = listener.localAddress().getPort();
    CmEvent event =
        answer(CarrierKind.TCP, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
    assertThat(event.type()).isEqualTo(CmEventType.REJECTED);
    assertThat(event.status()).isEqualTo(8);
    assertThat(event.message())
        .isEqualTo("/127.0.0.1:%d by TCP: no listener on the port, with this carrier", port);
    assertThat(it.server.channel.poll()).as("the listener hears nothing").isEmpty();
  }

  /** No answer at all: what was tried, and the other thing that may be the matter. */
  @Test
  void requestWithoutAnAnswerNamesTheCarrierToo() throws Exception {
    CmEvent event =
        answer(CarrierKind.IB, new InetSocketAddress(InetAddress.ofLiteral("10.0.0.9"), 7471));
    assertThat(event.type()).isEqualTo(CmEventType.UNREACHABLE);
    assertThat(event.status()).isEqualTo(-Errno.ETIMEDOUT.number());
    assertThat(event.message()).endsWith("(both ends must use the same carrier, here IB)");
  }

  @Test
  void exceptionOfTheShortLevelSaysItToo() {
    CmId listener = listen(CarrierKind.IB, "10.0.0.2");
    InetSocketAddress to =
        new InetSocketAddress(
            InetAddress.ofLiteral("127.0.0.1"), listener.localAddress().getPort());
    RdmaOptions options =
        RdmaOptions.DEFAULT.withDevice(it.client.context).withCarrier(CarrierKind.TCP);
    assertErrno(Errno.ECONNREFUSED, () -> RdmaConnection.connect(to, options))
        .hasMessageContaining("by TCP: no listener on the port, with this carrier");
  }
}

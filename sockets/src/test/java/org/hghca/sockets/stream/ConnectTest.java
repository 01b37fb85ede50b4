package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Card.class)
class ConnectTest {
  private final Card card;
  private TwoStreamDevices devices;

  ConnectTest(Card card) {
    this.card = card;
  }

  @BeforeEach
  void open() {
    devices = card.open();
  }

  @AfterEach
  void close() {
    devices.close();
  }

  private PendingConnect begin(InetSocketAddress to) throws IOException {
    return devices.client.connect(null, to, StreamOptions.DEFAULT);
  }

  @Test
  void knowsItsAddresses() {
    assertThat(devices.client.addresses()).containsExactly(devices.clientAddress);
  }

  @Test
  void aPortWithoutAListenerRefuses() throws IOException {
    PendingConnect connect = begin(new InetSocketAddress(devices.serverAddress, 4711));
    assertThat(connect.await(TwoStreamDevices.deadline())).isTrue();
    assertThatThrownBy(connect::finish)
        .isInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
  }

  @Test
  void aPortHasOneListener() throws IOException {
    try (StreamListener listener = devices.listen()) {
      assertThatThrownBy(
              () -> devices.server.listen(listener.localAddress(), 1, StreamOptions.DEFAULT))
          .isInstanceOf(BindException.class)
          .hasMessage("Address already in use");
    }
    // and is free when it is closed
  }

  @Test
  void aPortIsFreeWhenItsListenerIsClosed() throws IOException {
    InetSocketAddress address;
    try (StreamListener listener = devices.listen()) {
      address = listener.localAddress();
    }
    devices.server.listen(address, 1, StreamOptions.DEFAULT).close();
  }

  @Test
  void aForeignAddressCannotBeBound() {
    InetSocketAddress foreign = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0);
    assertThatThrownBy(() -> devices.server.listen(foreign, 1, StreamOptions.DEFAULT))
        .isInstanceOf(BindException.class)
        .hasMessage("Cannot assign requested address");
    assertThatThrownBy(
            () ->
                devices.client.connect(
                    foreign,
                    new InetSocketAddress(devices.serverAddress, 1),
                    StreamOptions.DEFAULT))
        .isInstanceOf(BindException.class)
        .hasMessage("Cannot assign requested address");
  }

  @Test
  void aLocalPortCanBeChosen() throws IOException {
    try (StreamListener listener = devices.listen()) {
      InetSocketAddress local = new InetSocketAddress(devices.clientAddress, 4712);
      PendingConnect connect =
          devices.client.connect(local, listener.localAddress(), StreamOptions.DEFAULT);
      assertThat(connect.await(TwoStreamDevices.deadline())).isTrue();
      try (ByteStream client = connect.finish();
          ByteStream server = TwoStreamDevices.accept(listener)) {
        assertThat(client.localAddress()).isEqualTo(local);
        assertThat(server.remoteAddress()).isEqualTo(local);
      }
    }
  }

  @Test
  void connectionsAreAcceptedInTheOrderOfArrival() throws IOException {
    try (StreamListener listener = devices.listen()) {
      List<ByteStream> clients = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        clients.add(devices.connect(listener, StreamOptions.DEFAULT));
      }
      for (ByteStream client : clients) {
        try (ByteStream server = TwoStreamDevices.accept(listener)) {
          assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
        }
        client.close();
      }
      assertThat(listener.accept()).isNull();
    }
  }

  @Test
  void whoFindsTheBacklogFullWaitsUntilThereIsRoom() throws IOException {
    try (StreamListener listener = devices.listen(StreamOptions.DEFAULT, 2)) {
      ByteStream first = devices.connect(listener, StreamOptions.DEFAULT);
      ByteStream second = devices.connect(listener, StreamOptions.DEFAULT);
      PendingConnect third = begin(listener.localAddress());
      assertThat(third.await(System.nanoTime() + 300_000_000)).isFalse();
      TwoStreamDevices.accept(listener).close();
      assertThat(third.await(TwoStreamDevices.deadline())).isTrue();
      first.close();
      second.close();
      third.finish().close();
    }
  }

  @Test
  void closingAListenerEndsTheConnectionsThatWait() throws IOException {
    StreamListener listener = devices.listen(StreamOptions.DEFAULT, 1);
    ByteStream accepted = devices.connect(listener, StreamOptions.DEFAULT);
    PendingConnect held = begin(listener.localAddress());
    assertThat(held.await(System.nanoTime() + 300_000_000)).isFalse();
    listener.close();
    assertThat(TwoStreamDevices.isAtEnd(accepted)).isTrue();
    assertThat(held.await(TwoStreamDevices.deadline())).isTrue();
    assertThatThrownBy(held::finish)
        .isInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
    accepted.close();
    assertThatThrownBy(listener::accept).isInstanceOf(SocketException.class);
  }

  @Test
  void aCancelledConnectLeavesNothing() throws IOException {
    try (StreamListener listener = devices.listen()) {
      for (int i = 0; i < 50; i++) {
        PendingConnect connect = begin(listener.localAddress());
        if (i % 2 == 0) {
          connect.await(System.nanoTime() + i * 100_000L);
        }
        connect.cancel();
        if (!connect.done() || i % 2 == 1) {
          assertThatThrownBy(connect::finish)
              .isInstanceOfAny(ClosedChannelException.class, IllegalStateException.class);
        }
      }
    }
    // the devices close only when nothing is open
  }

  @Test
  void watchersAreTold() throws Exception {
    try (StreamListener listener = devices.listen()) {
      CountDownLatch arrived = new CountDownLatch(1);
      listener.watch(arrived::countDown);
      PendingConnect connect = begin(listener.localAddress());
      CountDownLatch connected = new CountDownLatch(1);
      connect.watch(connected::countDown);
      assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
      CountDownLatch late = new CountDownLatch(1);
      connect.watch(late::countDown);
      assertThat(late.getCount()).as("it is connected already").isZero();
      connect.finish().close();
    }
  }

  /** More than one engine holds. */
  @Test
  void manyConnectionsAreOpenAtOnce() throws IOException {
    int count = card.mostOpen();
    try (StreamListener listener = devices.listen(StreamOptions.DEFAULT, count)) {
      List<TwoStreamDevices.Pair> pairs = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        ByteStream client = devices.connect(listener, StreamOptions.DEFAULT);
        pairs.add(new TwoStreamDevices.Pair(client, TwoStreamDevices.accept(listener)));
      }
      assertThat(devices.server.counters().open()).isEqualTo(count);
      for (TwoStreamDevices.Pair pair : pairs) {
        new Transfer(6).begin(Thread.ofVirtual(), pair.client(), pair.server(), 3_000, 1_000).end();
      }
      pairs.forEach(TwoStreamDevices.Pair::close);
    }
  }

  /** The devices refuse to close while a queue pair or a region is open. */
  @Test
  void connectionsOneAfterAnotherLeaveNothing() throws IOException {
    int count = card.mostInAll();
    try (StreamListener listener = devices.listen()) {
      for (int i = 0; i < count; i++) {
        ByteStream client = devices.connect(listener, StreamOptions.DEFAULT);
        ByteStream server = TwoStreamDevices.accept(listener);
        (i % 2 == 0 ? client : server).close();
        (i % 2 == 0 ? server : client).close();
      }
    }
    assertThat(devices.server.counters().accepted()).isEqualTo(count);
  }
}

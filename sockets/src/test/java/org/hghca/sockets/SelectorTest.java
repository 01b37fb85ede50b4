package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.hghca.sockets.MemoryDevice.Network;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SelectorTest {
  private static final int READ = SelectionKey.OP_READ;
  private static final int WRITE = SelectionKey.OP_WRITE;

  private final MemoryDevice device = new Network().device("10.0.0.1");
  private final List<SelectableChannel> channels = new ArrayList<>();
  private RdmaSelectorProvider provider;
  private Selector selector;
  private ServerSocketChannel server;

  @BeforeEach
  void open() throws IOException {
    provider = Sockets.provider(device);
    selector = provider.openSelector();
    server = kept(provider.openServerSocketChannel());
    server.bind(new InetSocketAddress("10.0.0.1", 0));
  }

  @AfterEach
  void close() throws IOException {
    selector.close();
    for (SelectableChannel channel : channels) {
      channel.close();
    }
    assertThat(device.open).as("streams that are open").hasValue(0);
  }

  private <C extends SelectableChannel> C kept(C channel) {
    channels.add(channel);
    return channel;
  }

  private SocketChannel[] pair(ServerSocketChannel through) throws IOException {
    SocketChannel client = kept(provider.openSocketChannel());
    client.connect(through.getLocalAddress());
    SocketChannel accepted = kept(through.accept());
    client.configureBlocking(false);
    accepted.configureBlocking(false);
    return new SocketChannel[] {client, accepted};
  }

  private ServerSocketChannel platformServer() throws IOException {
    ServerSocketChannel platform = kept(provider.openServerSocketChannel());
    return platform.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static ByteBuffer one() {
    return ByteBuffer.allocate(1);
  }

  @Test
  void acceptsConnectsReadsAndWritesByKeysAlone() throws IOException {
    server.configureBlocking(false);
    server.register(selector, SelectionKey.OP_ACCEPT);
    SocketChannel client = kept(provider.openSocketChannel());
    client.configureBlocking(false);
    SelectionKey key = client.register(selector, 0);
    device.slow = true;
    assertThat(client.connect(server.getLocalAddress())).isFalse();
    key.interestOps(SelectionKey.OP_CONNECT);
    assertThat(selector.selectNow()).isZero();

    device.lastConnect.answer();
    assertThat(selector.select()).isEqualTo(2);
    assertThat(key.isConnectable()).isTrue();
    assertThat(client.finishConnect()).isTrue();
    SocketChannel accepted = kept(server.accept());
    selector.selectedKeys().clear();
    key.interestOps(READ | WRITE);
    assertThat(selector.select()).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(WRITE);
    client.write(Sockets.bytes("to"));
    accepted.write(Sockets.bytes("fro"));
    assertThat(selector.select()).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(READ | WRITE);
    assertThat(Sockets.text(client, 3)).isEqualTo("fro");
    assertThat(Sockets.text(accepted, 2)).isEqualTo("to");
  }

  @Test
  void whatIsStillReadyIsFoundAgain() throws IOException {
    SocketChannel[] ends = pair(server);
    SelectionKey key = ends[0].register(selector, READ);
    ends[1].write(Sockets.bytes("ab"));

    for (int i = 0; i < 2; i++) {
      assertThat(selector.select()).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(key);
      selector.selectedKeys().remove(key);
      ends[0].read(one());
    }
    assertThat(selector.selectNow()).isZero();
  }

  @Test
  void aKeyThatStaysSelectedCountsWhenItsReadySetGrows() throws IOException {
    SocketChannel[] ends = pair(server);
    SelectionKey key = ends[0].register(selector, READ | WRITE);
    assertThat(selector.select()).isEqualTo(1);
    assertThat(selector.select()).isZero();

    ends[1].write(one());

    assertThat(selector.select()).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(READ | WRITE);
  }

  @Test
  void aThreadThatSleepsIsWokenByWhatArrives() throws Exception {
    SocketChannel[] ends = pair(server);
    ends[0].register(selector, READ);
    FutureTask<Integer> selecting = asleep();

    ends[1].write(one());

    assertThat(selecting.get()).isEqualTo(1);
  }

  @Test
  void wakeupEndsTheSelectionThatSleepsOrTheNext() throws Exception {
    FutureTask<Integer> selecting = asleep();
    selector.wakeup();
    assertThat(selecting.get()).isZero();

    selector.wakeup();
    assertThat(selector.select()).isZero();
    assertThat(selector.select(1)).isZero();
  }

  @Test
  void anInterruptEndsASelectionAndStays() throws Exception {
    FutureTask<Boolean> selecting =
        new FutureTask<>(
            () -> {
              selector.select();
              return Thread.currentThread().isInterrupted();
            });
    Thread thread = new Thread(selecting);
    thread.start();
    thread.interrupt();

    assertThat(selecting.get()).isTrue();
    assertThat(selector.isOpen()).isTrue();
  }

  @Test
  void closeEndsASelectionAndCancelsItsKeys() throws Exception {
    SocketChannel[] ends = pair(server);
    SelectionKey key = ends[0].register(selector, READ);
    FutureTask<Integer> selecting = asleep();

    selector.close();

    selecting.get();
    assertThat(key.isValid()).isFalse();
    assertThat(ends[0].isRegistered()).isFalse();
    assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
  }

  @Test
  void channelsOfBothKindsAreSelectedTogether() throws IOException {
    SocketChannel[] rdma = pair(server);
    SocketChannel[] platform = pair(platformServer());
    Pipe pipe = provider.openPipe();
    kept(pipe.sink());
    kept(pipe.source()).configureBlocking(false);
    DatagramChannel datagrams = kept(provider.openDatagramChannel());
    datagrams.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    datagrams.configureBlocking(false);
    SelectionKey[] keys = {
      rdma[0].register(selector, READ),
      platform[0].register(selector, READ),
      pipe.source().register(selector, READ),
      datagrams.register(selector, READ)
    };
    assertThat(selector.selectNow()).isZero();
    assertThat(provider.counters().platformStreams()).isEqualTo(2);

    rdma[1].write(one());
    assertThat(selector.select()).isEqualTo(1);
    platform[1].write(one());
    pipe.sink().write(one());
    datagrams.send(one(), datagrams.getLocalAddress());
    while (selector.selectedKeys().size() < 4) {
      selector.select();
    }

    assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(keys);
    selector.selectedKeys().clear();
    rdma[0].read(one());
    platform[0].read(one());
    pipe.source().read(one());
    datagrams.receive(one());
    assertThat(selector.selectNow()).isZero();
  }

  @Test
  void aThreadThatSleepsSeesAChannelThatBecomesOneOfThePlatform() throws Exception {
    ServerSocketChannel platform = platformServer();
    SocketChannel client = kept(provider.openSocketChannel());
    client.configureBlocking(false);
    SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
    FutureTask<Integer> selecting = asleep();

    client.connect(platform.getLocalAddress());

    assertThat(selecting.get()).isEqualTo(1);
    assertThat(key.isConnectable()).isTrue();
    assertThat(client.finishConnect()).isTrue();
    kept(platform.accept());
  }

  @Test
  void cancelledKeysLeaveWithTheNextSelection() throws IOException {
    for (ServerSocketChannel through : List.of(server, platformServer())) {
      SocketChannel[] ends = pair(through);
      SelectionKey key = ends[0].register(selector, READ);
      ends[1].write(one());
      assertThat(selector.select()).isEqualTo(1);
      key.cancel();

      assertThat(selector.selectNow()).isZero();

      assertThat(selector.keys()).isEmpty();
      assertThat(selector.selectedKeys()).isEmpty();
      assertThat(ends[0].isRegistered()).isFalse();
      assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
      ends[0].configureBlocking(true);
      assertThat(ends[0].read(one())).isEqualTo(1);
      ends[0].configureBlocking(false);
      ends[0].register(selector, WRITE);
      assertThat(selector.select()).isEqualTo(1);
      ends[0].close();
      selector.selectNow();
      assertThat(selector.keys()).isEmpty();
    }
  }

  @Test
  void aClosedChannelOfThePlatformIsSeenByItsPeer() throws IOException {
    SocketChannel[] ends = pair(platformServer());
    ends[0].register(selector, READ);
    selector.selectNow();

    ends[0].close();
    selector.selectNow();

    ends[1].configureBlocking(true);
    assertThat(ends[1].read(one())).isEqualTo(-1);
  }

  @Test
  void anActionIsRunForEachReadyKey() throws IOException {
    SocketChannel[] rdma = pair(server);
    SocketChannel[] platform = pair(platformServer());
    rdma[0].register(selector, WRITE, "rdma");
    platform[0].register(selector, WRITE, "platform");
    List<Object> found = new ArrayList<>();

    assertThat(selector.select(key -> found.add(key.attachment()))).isEqualTo(2);

    assertThat(found).containsExactlyInAnyOrder("rdma", "platform");
  }

  @Test
  void manyChannelsAreAllFound() throws IOException {
    List<SocketChannel> peers = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      SocketChannel[] ends = pair(server);
      ends[0].register(selector, READ);
      peers.add(ends[1]);
    }
    for (SocketChannel peer : peers) {
      peer.write(one());
    }

    assertThat(selector.select()).isEqualTo(300);
  }

  @Test
  void whatDoesNotBelongTogetherIsRefused() throws IOException {
    SocketChannel[] ends = pair(server);
    try (SocketChannel foreign = provider.platform().openSocketChannel();
        Selector platform = provider.platform().openSelector()) {
      foreign.configureBlocking(false);

      assertThatThrownBy(() -> foreign.register(selector, READ))
          .isInstanceOf(IllegalSelectorException.class);
      assertThatThrownBy(() -> ends[0].register(platform, READ))
          .isInstanceOf(IllegalSelectorException.class);
    }
    assertThatThrownBy(() -> ends[0].register(selector, SelectionKey.OP_ACCEPT))
        .isInstanceOf(IllegalArgumentException.class);
    SelectionKey key = ends[0].register(selector, READ);
    assertThatThrownBy(() -> key.interestOps(SelectionKey.OP_ACCEPT))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ends[0].configureBlocking(true))
        .isInstanceOf(IllegalBlockingModeException.class);
    assertThatThrownBy(() -> selector.selectedKeys().add(key))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> selector.keys().remove(key))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  /** A selection that a thread has begun, and sleeps in. */
  private FutureTask<Integer> asleep() {
    FutureTask<Integer> selecting = new FutureTask<>(selector::select);
    Thread thread = new Thread(selecting);
    thread.start();
    while (!((RdmaSelector) selector).isAsleep()) {
      Thread.onSpinWait();
    }
    return selecting;
  }
}

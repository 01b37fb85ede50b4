package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.policy.SocketSettings;
import org.hghca.sockets.stream.RdmaStreamDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A selector that sleeps over more streams than a completion queue holds. */
class SleepingSelectorTest {
  private static final int CONNECTIONS = 100;

  private final List<SocketChannel> clients = new ArrayList<>();
  private SocketContext context;
  private RdmaSelector selector;
  private ServerSocketChannel listening;
  private CompletableFuture<Void> end;

  @BeforeEach
  void open() throws IOException {
    Map<String, String> properties =
        Map.of(
            SocketSettings.DEVICES, "model:sleeping?ip=10.0.0.1",
            SocketSettings.NETWORKS, "10.0.0.0/8",
            SocketSettings.RECEIVE_BUFFER, "4096",
            SocketSettings.SEND_BUFFER, "4096");
    context =
        new SocketContext(
            new SocketPolicy(SocketSettings.read(properties::get), RdmaStreamDevice::open));
    RdmaSelectorProvider provider = new RdmaSelectorProvider(context);
    selector = (RdmaSelector) provider.openSelector();
    listening = provider.openServerSocketChannel();
    listening.bind(new InetSocketAddress("10.0.0.1", 0));
    listening.configureBlocking(false);
    listening.register(selector, SelectionKey.OP_ACCEPT);
    end = CompletableFuture.runAsync(this::serve, Thread.ofPlatform()::start);
    for (int i = 0; i < CONNECTIONS; i++) {
      SocketChannel client = provider.openSocketChannel();
      clients.add(client);
      client.connect(listening.getLocalAddress());
    }
  }

  @AfterEach
  void close() throws Exception {
    selector.close();
    end.get(20, TimeUnit.SECONDS);
    for (SocketChannel client : clients) {
      client.close();
    }
    listening.close();
    context.close();
  }

  private void serve() {
    try {
      while (true) {
        selector.select(SleepingSelectorTest::answer);
      }
    } catch (ClosedSelectorException _) {
      // the end
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void answer(SelectionKey key) {
    try {
      if (key.channel() instanceof ServerSocketChannel server) {
        SocketChannel accepted = server.accept();
        accepted.configureBlocking(false);
        accepted.register(key.selector(), SelectionKey.OP_READ);
      } else {
        ByteBuffer got = ByteBuffer.allocate(8);
        SocketChannel channel = (SocketChannel) key.channel();
        if (channel.read(got) < 0) {
          channel.close();
        } else {
          channel.write(got.flip());
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitSleep() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!selector.isAsleep()) {
      assertThat(System.nanoTime()).as("the selector sleeps").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  @Test
  void isWokenByEachOfThem() throws IOException {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < CONNECTIONS; i++) {
        awaitSleep();
        byte[] message = {(byte) i, (byte) round};
        Sockets.write(clients.get(i), message);
        assertThat(Sockets.read(clients.get(i), 2)).containsExactly(message);
      }
    }
    assertThat(context.counters().bytesReceived()).isEqualTo(2 * 2 * 3 * CONNECTIONS);
    assertThat(context.counters().platformStreams()).isZero();
  }
}

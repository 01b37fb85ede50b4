package org.hghca.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jgroups.logging.Log;
import org.jgroups.logging.LogFactory;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Connections, without a cluster above them. */
class PeersTest {
  private static final Log LOG = LogFactory.getLog(PeersTest.class);
  private static final Settings SETTINGS =
      new Settings(1024, 4, 8192, 1 << 20, Duration.ofSeconds(5), Duration.ofSeconds(20));

  /** An end, with what it has received. */
  private static final class Side implements AutoCloseable {
    final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final Hca hca;
    private final Peers peers;

    Side(int number) {
      hca =
          Hca.open(
              "model:%d?hub=peers&ip=10.8.8.%d".formatted(number, number),
              Optional.empty(),
              InetAddress.getLoopbackAddress());
      peers = new Peers(hca, List.of(0), SETTINGS, this::receive, LOG);
    }

    private void receive(Object from, SegmentInput bundle, int length) throws Exception {
      byte[] bytes = new byte[length];
      bundle.readFully(bytes);
      received.add(new String(bytes, StandardCharsets.US_ASCII));
    }

    boolean send(Side to, String text) throws InterruptedException {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      return peers.send(to.peers.address(), bytes, 0, bytes.length);
    }

    String next() throws InterruptedException {
      return received.poll(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      peers.close();
      hca.close();
    }
  }

  @RepeatedTest(10)
  void bothConnectAtOnceAndOneConnectionIsLeft() throws Exception {
    try (Side a = new Side(1);
        Side b = new Side(2)) {
      a.peers.accept();
      b.peers.accept();
      CyclicBarrier start = new CyclicBarrier(2);
      Thread other =
          Thread.startVirtualThread(
              () -> {
                try {
                  start.await();
                  b.send(a, "from b");
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      start.await();
      a.send(b, "from a");
      other.join();
      assertThat(a.next()).isEqualTo("from b");
      assertThat(b.next()).isEqualTo("from a");
      for (int i = 0; i < 100; i++) {
        a.send(b, "a" + i);
        b.send(a, "b" + i);
        assertThat(a.next()).isEqualTo("b" + i);
        assertThat(b.next()).isEqualTo("a" + i);
      }
      assertThat(a.peers.connected()).isEqualTo(1);
      assertThat(b.peers.connected()).isEqualTo(1);
    }
  }

  /** Far more than the buffers of both ends take, in one direction. */
  @Test
  void whatIsLongerThanAllBuffersArrivesWhole() throws Exception {
    try (Side a = new Side(1);
        Side b = new Side(2)) {
      a.peers.accept();
      b.peers.accept();
      String text = "0123456789abcdef".repeat(50_000);
      for (int i = 0; i < 3; i++) {
        assertThat(a.send(b, i + text)).isTrue();
        assertThat(b.next()).isEqualTo(i + text);
      }
    }
  }
}

package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.hca.Hca;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.wire.capture.CaptureFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Captures whose HCA is closed first, and captures whose end is awaited by an interrupted thread.
 */
final class CaptureEndTest {
  private static final int STATISTICS = 5;

  private final AtomicInteger closed = new AtomicInteger();

  private SoftwareHca hca() {
    return new SoftwareHca(
        "captured",
        (port, faults, interrupts) ->
            new Hca(HardwareProfile.S, port, faults, interrupts ? Hca.VECTORS : 0),
        LinkAddress.of(Locator.parse("model:captured")),
        Simulation.unnamed(),
        Optional.empty(),
        false,
        false,
        closed::incrementAndGet);
  }

  /** Takes the head of a capture, and then nothing. */
  private static final class Stalled implements WritableByteChannel {
    final CountDownLatch ended = new CountDownLatch(1);
    private boolean hasHead;

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (hasHead) {
        awaitEnd();
        throw new AsynchronousCloseException();
      }
      hasHead = true;
      int bytes = from.remaining();
      from.position(from.limit());
      return bytes;
    }

    private void awaitEnd() throws IOException {
      try {
        ended.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public boolean isOpen() {
      return ended.getCount() > 0;
    }

    @Override
    public void close() {
      ended.countDown();
    }
  }

  /** What the thread of a client does: its capture ends when the channel does. */
  private static Thread endsWith(Stalled client, SoftwareHca hca, CaptureFile capture) {
    return Thread.ofPlatform()
        .start(
            () -> {
              try {
                client.awaitEnd();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
              hca.endCapture(capture);
            });
  }

  @Test
  void hcaThatIsClosedFirstWaitsForStalledReadersAtTheSameTime() throws Exception {
    SoftwareHca hca = hca();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Stalled client = new Stalled();
      clients.add(endsWith(client, hca, hca.capture(client, "stalled")));
    }
    long start = System.nanoTime();
    hca.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as("the two seconds of one reader, not of each")
        .isLessThan(Duration.ofSeconds(10));
    assertThat(closed).hasValue(1);
    for (Thread client : clients) {
      client.join();
    }
  }

  @Test
  void interruptedThreadWaitsForTheEndOfAllCaptures(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("captures");
    SoftwareHca hca = hca();
    List<SocketChannel> clients = new ArrayList<>();
    try {
      CaptureSocket captures = CaptureSocket.open(path, hca);
      for (int i = 0; i < CaptureSocket.MOST_CLIENTS; i++) {
        clients.add(SocketChannel.open(UnixDomainSocketAddress.of(path)));
        clients.get(i).read(ByteBuffer.allocate(8)); // its capture has begun
      }
      Thread.currentThread().interrupt();
      captures.close();
      assertThat(Thread.interrupted()).isTrue();
      for (SocketChannel client : clients) {
        assertThat(lastBlock(client)).isEqualTo(STATISTICS);
      }
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
      hca.close();
    }
  }

  /** The type of the last block of pcapng that a client gets. */
  private static int lastBlock(SocketChannel client) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    while (client.read(all) >= 0) {
      assertThat(all.hasRemaining()).isTrue();
    }
    int length = all.getInt(all.position() - Integer.BYTES);
    return all.getInt(all.position() - length);
  }
}

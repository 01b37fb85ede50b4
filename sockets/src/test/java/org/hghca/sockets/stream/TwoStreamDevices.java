package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Two devices with an address each, and what makes streams between them. */
final class TwoStreamDevices implements AutoCloseable {
  static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);
  private static final AtomicInteger NUMBER = new AtomicInteger();

  final RdmaStreamDevice client;
  final RdmaStreamDevice server;
  final InetAddress clientAddress;
  final InetAddress serverAddress;

  /** A pair of connected streams. */
  record Pair(ByteStream client, ByteStream server) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  private final String another;

  private TwoStreamDevices(
      String client, String server, String another, String clientIp, String serverIp) {
    this.another = another;
    this.client = RdmaStreamDevice.open(client);
    this.server = RdmaStreamDevice.open(server);
    this.clientAddress = InetAddress.ofLiteral(clientIp);
    this.serverAddress = InetAddress.ofLiteral(serverIp);
  }

  /** On a hub, with more parameters of their locators. */
  static TwoStreamDevices onHub(String more) {
    return onHub("model", "10.0.0.", more);
  }

  /** The same, of a kind of devices, with addresses that begin so. */
  static TwoStreamDevices onHub(String scheme, String network, String more) {
    int number = NUMBER.incrementAndGet();
    String locator = scheme + ":streams%d%s?hub=streams%d&ip=" + network + "%d%s";
    return new TwoStreamDevices(
        locator.formatted(number, "a", number, 1, more),
        locator.formatted(number, "b", number, 2, more),
        locator.formatted(number, "c", number, 3, more),
        network + 1,
        network + 2);
  }

  /** Through shared memory. */
  static TwoStreamDevices throughSharedMemory() {
    int number = NUMBER.incrementAndGet();
    String locator = "model:streams%d%s?net=shm:streams%d&ip=10.0.0.%d";
    return new TwoStreamDevices(
        locator.formatted(number, "a", number, 1),
        locator.formatted(number, "b", number, 2),
        locator.formatted(number, "c", number, 3),
        "10.0.0.1",
        "10.0.0.2");
  }

  /** Over UDP of this host. */
  static TwoStreamDevices overUdp() {
    int number = NUMBER.incrementAndGet();
    return new TwoStreamDevices(
        "model:streams%da?net=udp:127.0.9.1".formatted(number),
        "model:streams%db?net=udp:127.0.9.2".formatted(number),
        "model:streams%dc?net=udp:127.0.9.3".formatted(number),
        "127.0.9.1",
        "127.0.9.2");
  }

  /** The locator of a third one. */
  String another() {
    return another;
  }

  StreamListener listen() throws IOException {
    return listen(StreamOptions.DEFAULT, 0);
  }

  StreamListener listen(StreamOptions options, int backlog) throws IOException {
    return server.listen(new InetSocketAddress(serverAddress, 0), backlog, options);
  }

  /** Connects to a listener. */
  ByteStream connect(StreamListener listener, StreamOptions options) throws IOException {
    PendingConnect pending = client.connect(null, listener.localAddress(), options);
    if (!pending.await(deadline())) {
      throw new IOException("not connected within the test's patience");
    }
    return pending.finish();
  }

  /** Takes a connection from a listener. */
  static ByteStream accept(StreamListener listener) throws IOException {
    long deadline = deadline();
    while (true) {
      ByteStream accepted = listener.accept();
      if (accepted != null) {
        return accepted;
      }
      if (!listener.await(deadline)) {
        throw new IOException("not accepted within the test's patience");
      }
    }
  }

  Pair pair(StreamOptions ofClient, StreamOptions ofServer) throws IOException {
    try (StreamListener listener = listen(ofServer, 1)) {
      ByteStream connected = connect(listener, ofClient);
      return new Pair(connected, accept(listener));
    }
  }

  Pair pair() throws IOException {
    return pair(StreamOptions.DEFAULT, StreamOptions.DEFAULT);
  }

  static long deadline() {
    return System.nanoTime() + PATIENCE;
  }

  /** Writes all of a buffer. */
  static void writeFully(ByteStream stream, ByteBuffer bytes) throws IOException {
    long deadline = deadline();
    while (bytes.hasRemaining()) {
      if (stream.write(bytes) == 0 && !stream.await(SelectionKey.OP_WRITE, deadline)) {
        throw new IOException("no room within the test's patience");
      }
    }
  }

  /** Reads until a buffer is full; fewer bytes at the end of the stream. */
  static void readFully(ByteStream stream, ByteBuffer bytes) throws IOException {
    long deadline = deadline();
    while (bytes.hasRemaining()) {
      int taken = stream.read(bytes);
      if (taken < 0) {
        return;
      }
      if (taken == 0 && !stream.await(SelectionKey.OP_READ, deadline)) {
        throw new IOException("nothing to read within the test's patience");
      }
    }
  }

  /** Waits for the end of a stream; false when bytes come before it. */
  static boolean isAtEnd(ByteStream stream) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    readFully(stream, one);
    return one.position() == 0;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}

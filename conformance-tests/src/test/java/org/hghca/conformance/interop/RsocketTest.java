package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.hghca.conformance.interop.GuestProgram.End;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.PendingConnect;
import org.hghca.sockets.stream.RdmaStreamDevice;
import org.hghca.sockets.stream.StreamCounters;
import org.hghca.sockets.stream.StreamListener;
import org.hghca.sockets.stream.StreamOptions;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code rstream} and {@code riostream} of librdmacm as Debian has them, and streams of ours. They
 * may end with 0 though they failed, and may wait for ever: their lines and the time count.
 */
@WithSoftRoce
@DisplayName("unmodified")
class RsocketTest {
  private static final int PORT = 7471;
  private static final InetSocketAddress GUEST =
      new InetSocketAddress(InetAddress.ofLiteral("10.99.0.11"), PORT);
  private static final InetSocketAddress OURS =
      new InetSocketAddress(InetAddress.ofLiteral(Bench.ADDRESS), PORT);
  private static final StreamOptions MAPPED = StreamOptions.DEFAULT.withMappings(1);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** What it says of data that differ, and of a call that fails. */
  private static final Pattern FAILURE = Pattern.compile("failed|: |Warning");

  private static final Pattern DONE =
      Pattern.compile("(?m)^custom +\\S+ +\\S+ +\\S+ +\\S+ +[\\d.]+s +[\\d.]+ +[\\d.]+$");

  /** How many messages the C library lets its peer send, in a file that it reads. */
  private static final String CREDITS = "/etc/rdma/rsocket/rqsize_default";

  private Bench bench;
  private RdmaStreamDevice device;

  @BeforeEach
  void open(Bench itsBench) {
    bench = itsBench;
    device = RdmaStreamDevice.open(bench.context().device().locator());
  }

  @AfterEach
  void close() {
    device.close();
  }

  @ParameterizedTest(name = "rstream as client, {0}", quoteTextArguments = false)
  @CsvSource({
    "-T b -S 64 -C 1 -I 1, 64, 1, 1",
    "-T b -T v -S 64 -C 1 -I 1, 64, 1, 1",
    "-T v -B 4096 -S 1000000 -C 1 -I 2, 1000000, 1, 2",
    "-T v -i 0 -S 64 -C 70000 -I 1, 64, 70000, 1",
    "-T b -T v -S 64 -C 1 -I 2000, 64, 1, 2000",
    "-T a -T v -S 5000 -C 10 -I 2, 5000, 10, 2"
  })
  void asClient(String options, long size, int transfers, int iterations) throws IOException {
    RstreamEnd ours = new RstreamEnd(true, options.contains("-T v"), LIMIT);
    try (StreamListener listener = device.listen(OURS, 1, StreamOptions.DEFAULT)) {
      GuestProgram client =
          GuestProgram.start(
              bench.guest(), "client", "rstream -s " + Bench.ADDRESS + " " + options);
      try (ByteStream stream = accept(listener)) {
        ours.exchange(stream, size, transfers, iterations);
        if (options.contains("-T a")) {
          ours.awaitEnd(stream);
        }
      }
      assertDone(client.await());
    }
    assertCounted(ours);
  }

  @ParameterizedTest(name = "rstream as server, {0}", quoteTextArguments = false)
  @CsvSource({
    "-T b -S 64 -C 1 -I 1, 64, 1, 1",
    "-T b -T v -S 64 -C 1 -I 1, 64, 1, 1",
    "-T v -B 4096 -S 1000000 -C 1 -I 2, 1000000, 1, 2",
    "-T v -i 0 -S 64 -C 70000 -I 1, 64, 70000, 1",
    "-T b -T v -S 64 -C 1 -I 2000, 64, 1, 2000",
    "-T a -T v -S 5000 -C 10 -I 2, 5000, 10, 2"
  })
  void asServer(String options, long size, int transfers, int iterations) throws IOException {
    GuestProgram server = GuestProgram.listening(bench.guest(), "server", "rstream " + options);
    RstreamEnd ours = new RstreamEnd(false, options.contains("-T v"), LIMIT);
    try (ByteStream stream = connect()) {
      ours.exchange(stream, size, transfers, iterations);
    }
    assertDone(server.await());
    assertCounted(ours);
  }

  @ParameterizedTest(name = "riostream as client, {0}", quoteTextArguments = false)
  @CsvSource({
    "-T b -T v -S 64 -C 1 -I 1, 64, 1",
    "-T v -S 1000 -C 1 -I 300, 1000, 300",
    "-T a -T v -S 1000000 -C 1 -I 2, 1000000, 2"
  })
  void riostreamAsClient(String options, int size, int iterations) throws IOException {
    try (StreamListener listener = device.listen(OURS, 1, MAPPED)) {
      GuestProgram client =
          GuestProgram.start(
              bench.guest(), "client", "riostream -s " + Bench.ADDRESS + " " + options);
      try (MemoryRegion memory = memory(size);
          ByteStream stream = accept(listener)) {
        new RiostreamEnd(stream, memory, true, LIMIT).exchange(iterations);
        assertDone(client.await());
      }
    }
  }

  @ParameterizedTest(name = "riostream as server, {0}", quoteTextArguments = false)
  @CsvSource({
    "-T b -T v -S 64 -C 1 -I 1, 64, 1",
    "-T v -S 1000 -C 1 -I 300, 1000, 300",
    "-T a -T v -S 1000000 -C 1 -I 2, 1000000, 2"
  })
  void riostreamAsServer(String options, int size, int iterations) throws IOException {
    GuestProgram server = GuestProgram.listening(bench.guest(), "server", "riostream " + options);
    try (MemoryRegion memory = memory(size);
        ByteStream stream = connect(MAPPED)) {
      new RiostreamEnd(stream, memory, false, LIMIT).exchange(iterations);
      assertDone(server.await());
    }
  }

  private MemoryRegion memory(int size) {
    return device.allocate(size, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  private ByteStream connect() throws IOException {
    return connect(StreamOptions.DEFAULT);
  }

  private ByteStream connect(StreamOptions options) throws IOException {
    PendingConnect connect = device.connect(null, GUEST, options);
    assertThat(connect.await(System.nanoTime() + LIMIT.toNanos())).isTrue();
    return connect.finish();
  }

  private static ByteStream accept(StreamListener listener) throws IOException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    ByteStream stream = listener.accept();
    while (stream == null) {
      assertThat(listener.await(deadline)).as("rstream connects").isTrue();
      stream = listener.accept();
    }
    return stream;
  }

  /** It says what it has done, and nothing of a failure. */
  private static void assertDone(End end) {
    assertThat(end.output()).doesNotContainPattern(FAILURE).containsPattern(DONE);
  }

  private void assertCounted(RstreamEnd ours) {
    StreamCounters counters = device.counters();
    assertThat(counters.bytesSent() + counters.bytesReceived()).isEqualTo(ours.moved());
  }

  @Test
  @DisplayName("rstream as client, with 16 credits")
  void withFewCredits() throws IOException {
    bench.guest().run("mkdir -p /etc/rdma/rsocket");
    bench.guest().run("python3 -c open('%s','w').write('16')".formatted(CREDITS));
    try {
      asClient("-T v -S 64 -C 2000 -I 2", 64, 2000, 2);
    } finally {
      bench.guest().run("rm " + CREDITS);
    }
  }

  @ParameterizedTest(
      name = "rstream killed as client, then as server, {0}",
      quoteTextArguments = false)
  @ValueSource(strings = {"-T b", "-T a"})
  void killed(String options) throws IOException {
    String endless = "rstream -S 100000 -C 1000000 " + options;
    try (StreamListener listener = device.listen(OURS, 1, StreamOptions.DEFAULT)) {
      GuestProgram client =
          GuestProgram.start(bench.guest(), "client", endless + " -s " + Bench.ADDRESS);
      try (ByteStream stream = accept(listener)) {
        assertReset(client, stream, true);
      }
    }
    GuestProgram server = GuestProgram.listening(bench.guest(), "server", endless);
    try (ByteStream stream = connect()) {
      assertReset(server, stream, false);
    }
  }

  private static void assertReset(GuestProgram killed, ByteStream stream, boolean serves)
      throws IOException {
    RstreamEnd ours = new RstreamEnd(serves, false, LIMIT);
    ours.exchange(stream, 0, 0, 0);
    killed.kill();
    assertThatThrownBy(() -> ours.exchange(stream, 100_000, 1_000_000, 1))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    killed.await();
  }
}

package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.DeviceContext;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.model.Disturbance;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counters;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A server with two clients, the first of which gets into trouble: the stream between these two
 * ends with the JDK's exception, and the other goes on.
 */
@Isolated("counts the files of the process")
@ParameterizedClass
@EnumSource(
    value = Card.class,
    names = {"S", "R1"})
class FaultTest {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final Card card;
  private final int number = NUMBER.incrementAndGet();
  private final HghcaDevice failing;
  private final Context serverContext;
  private final RdmaStreamDevice server;
  private final RdmaStreamDevice first;
  private final RdmaStreamDevice second;
  private final List<AutoCloseable> open = new ArrayList<>();

  FaultTest(Card card) {
    this.card = card;
    serverContext = RdmaDevices.open(locator(1));
    server = RdmaStreamDevice.over(serverContext);
    failing = BringUp.of(PciFunctions.open(Locator.parse(locator(2))));
    first =
        RdmaStreamDevice.over(
            new DeviceContext(
                new RdmaDevice("failing" + number, locator(2), 1), failing, failing::close));
    second = RdmaStreamDevice.open(locator(3));
  }

  private String locator(int end) {
    return card.isConnectedByTcp()
        ? "model:fault%d-%d?hub=fault%1$d&ip=127.0.0.%2$d&profile=r1".formatted(number, end)
        : "model:fault%d-%d?hub=fault%1$d&ip=10.0.0.%2$d".formatted(number, end);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
    first.close();
    second.close();
    server.close();
  }

  private InetSocketAddress address() {
    return new InetSocketAddress(
        InetAddress.ofLiteral(card.isConnectedByTcp() ? "127.0.0.1" : "10.0.0.1"), 0);
  }

  private StreamListener listen() throws IOException {
    StreamListener listener = server.listen(address(), 8, StreamOptions.DEFAULT);
    open.add(listener);
    return listener;
  }

  private static PendingConnect begin(RdmaStreamDevice device, StreamListener listener)
      throws IOException {
    PendingConnect connect = device.connect(null, listener.localAddress(), StreamOptions.DEFAULT);
    assertThat(connect.await(TwoStreamDevices.deadline())).isTrue();
    return connect;
  }

  private TwoStreamDevices.Pair pair(RdmaStreamDevice client, StreamListener listener)
      throws IOException {
    ByteStream connected = begin(client, listener).finish();
    TwoStreamDevices.Pair pair =
        new TwoStreamDevices.Pair(connected, TwoStreamDevices.accept(listener));
    open.add(pair);
    return pair;
  }

  private static void assertGoesOn(TwoStreamDevices.Pair pair) throws IOException {
    new Transfer(9)
        .begin(Thread.ofPlatform(), pair.client(), pair.server(), 200_000, 9_000)
        .begin(Thread.ofVirtual(), pair.server(), pair.client(), 200_000, 9_000)
        .end();
  }

  /** Writes until that fails. */
  private static void assertReset(ByteStream stream) {
    Resets.assertWritesEnd(stream);
    assertThatThrownBy(() -> TwoStreamDevices.readFully(stream, ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aDeviceThatFailsEndsItsStreamsAndListenersAndNoOthers() throws Exception {
    StreamListener listener = listen();
    TwoStreamDevices.Pair lost = pair(first, listener);
    TwoStreamDevices.Pair kept = pair(second, listener);
    InetSocketAddress own =
        new InetSocketAddress(
            InetAddress.ofLiteral(card.isConnectedByTcp() ? "127.0.0.2" : "10.0.0.2"), 0);
    try (StreamListener deaf = first.listen(own, 1, StreamOptions.DEFAULT)) {
      failing.card().health().fail("the card was pulled out");
      assertThat(lost.client().await(SelectionKey.OP_READ, TwoStreamDevices.deadline())).isTrue();
      assertReset(lost.client());
      assertThatThrownBy(() -> deaf.await(TwoStreamDevices.deadline()))
          .isInstanceOf(SocketException.class)
          .hasMessage("the RDMA device has failed");
    }
    assertThatThrownBy(
            () -> first.connect(null, listener.localAddress(), StreamOptions.DEFAULT).finish())
        .isInstanceOfAny(SocketException.class, IllegalStateException.class);
    assertGoesOn(kept);
    first.close(); // a card that is gone acknowledges nothing
    lost.server().keepAlive(true, 1);
    assertReset(lost.server());
    assertGoesOn(kept);
  }

  @Test
  void aPulledCableEndsItsStreamsAndNoOthers() throws Exception {
    StreamListener listener = listen();
    TwoStreamDevices.Pair lost = pair(first, listener);
    TwoStreamDevices.Pair kept = pair(second, listener);
    SoftwareHca hca = ModelProvider.hca(Locator.parse(locator(2))).orElseThrow();
    hca.hub().orElseThrow().disturbTo(hca, Disturbance.NONE.withDrop(1));
    assertReset(lost.server());
    assertReset(lost.client());
    assertGoesOn(kept);
    hca.hub().orElseThrow().disturbTo(hca, Disturbance.NONE);
    assertGoesOn(pair(first, listener));
  }

  @Test
  void memoryThatCannotBeRegisteredRefusesAConnectionAndHarmsNoOther() throws Exception {
    StreamListener listener = listen();
    TwoStreamDevices.Pair kept = pair(second, listener);
    try (ProtectionDomain domain = serverContext.allocateProtectionDomain()) {
      List<MemoryRegion> all = new ArrayList<>();
      try {
        assertThatThrownBy(
                () -> {
                  while (true) {
                    all.add(domain.allocate(64, AccessFlag.LOCAL_WRITE));
                  }
                })
            .isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> begin(second, listener).finish())
            .isInstanceOf(ConnectException.class)
            .hasMessage("Connection refused");
        InetSocketAddress client = ((RdmaStream) kept.client()).localAddress();
        PendingConnect own =
            server.connect(
                null, new InetSocketAddress(client.getAddress(), 9), StreamOptions.DEFAULT);
        assertThat(own.await(TwoStreamDevices.deadline())).isTrue();
        assertThatThrownBy(own::finish).isInstanceOf(SocketException.class);
        assertGoesOn(kept);
      } finally {
        all.forEach(MemoryRegion::close);
      }
    }
    assertGoesOn(pair(second, listener));
  }

  @Test
  @Tag("long")
  void tenThousandConnectionsLeaveNeitherMemoryNorQueuePairsNorFiles() throws Exception {
    StreamListener listener = listen();
    connectAndClose(listener, 200); // and the JVM has the files that it keeps
    Counters before = serverContext.counters();
    List<String> files = files();
    connectAndClose(listener, 10_000);
    Counters after = serverContext.counters();
    assertThat(after.queuePairs()).isEqualTo(before.queuePairs());
    assertThat(after.memoryRegions()).isEqualTo(before.memoryRegions());
    assertThat(after.registeredBytes()).isEqualTo(before.registeredBytes());
    List<String> more = files();
    files.forEach(more::remove);
    assertThat(more).as("files that were opened and stay").hasSizeLessThan(10);
    assertThat(server.counters().accepted()).isEqualTo(10_200);
  }

  private void connectAndClose(StreamListener listener, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      ByteStream client = begin(second, listener).finish();
      ByteStream accepted = TwoStreamDevices.accept(listener);
      (i % 2 == 0 ? client : accepted).close();
      (i % 2 == 0 ? accepted : client).close();
    }
    long deadline = TwoStreamDevices.deadline();
    while (server.counters().open() + second.counters().open() > 0) {
      assertThat(System.nanoTime()).as("all are closed").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  /** What this process has open; the JVM opens some, once, when it first needs them. */
  private static List<String> files() throws IOException {
    List<String> open = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : all) {
        try {
          open.add(Files.readSymbolicLink(descriptor).toString());
        } catch (NoSuchFileException _) {
          // closed meanwhile
        }
      }
    }
    return open;
  }
}

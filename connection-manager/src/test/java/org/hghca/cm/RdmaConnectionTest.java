package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.cm.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** The short level: a server and connections. */
@ParameterizedClass
@CsvSource({"IB, ''", "TCP, ''", "TCP, &profile=r1"})
class RdmaConnectionTest {
  private static final Duration SOON = TwoDevices.SOON;
  private static final int MORE_THAN_FITS = 197;

  private final TwoDevices it;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  RdmaConnectionTest(CarrierKind kind, String profile) {
    it = new TwoDevices(kind, profile);
  }

  @AfterEach
  void close() {
    threads.close();
    it.close();
  }

  private RdmaOptions options() {
    return RdmaOptions.DEFAULT.withTimeout(SOON).withCarrier(it.kind);
  }

  private RdmaOptions client() {
    return options().withDevice(it.client.context);
  }

  private RdmaOptions server() {
    return options().withDevice(it.server.context);
  }

  private static WcStatus await(CompletionQueue queue) {
    Completions completions = new Completions(1);
    while (queue.poll(completions) == 0) {
      Thread.onSpinWait();
    }
    return completions.status(0);
  }

  /** On R1 nothing waits for a receive. */
  @Test
  void firstMessageOfEachEndFindsTheReceiveOfPrepare() throws Exception {
    try (MemoryRegion here = it.client.pd.allocate(4096, AccessFlag.LOCAL_WRITE);
        MemoryRegion there = it.server.pd.allocate(4096, AccessFlag.LOCAL_WRITE);
        RdmaServer server =
            RdmaServer.listen(
                it.anyPort(),
                server()
                    .withQueuePair(it.server.pd, rc(it.server.cq))
                    .withPrepare(c -> c.queuePair().postReceive(receive(there))))) {
      Future<RdmaConnection> accepted = threads.submit(() -> server.accept(SOON).orElseThrow());
      try (RdmaConnection active =
              RdmaConnection.connect(
                  server.localAddress(),
                  client()
                      .withQueuePair(it.client.pd, rc(it.client.cq))
                      .withPrepare(c -> c.queuePair().postReceive(receive(here))));
          RdmaConnection passive = accepted.get()) {
        passive.queuePair().postSend(send(there, "from the server"));
        assertThat(await(it.server.cq)).isEqualTo(WcStatus.SUCCESS);
        assertThat(await(it.client.cq)).isEqualTo(WcStatus.SUCCESS);
        assertThat(here.segment().getString(0)).isEqualTo("from the server");
        active.queuePair().postSend(send(here, "from the client"));
        assertThat(await(it.client.cq)).isEqualTo(WcStatus.SUCCESS);
        assertThat(await(it.server.cq)).isEqualTo(WcStatus.SUCCESS);
        assertThat(there.segment().getString(0)).isEqualTo("from the client");
      }
    }
  }

  private static QueuePairConfig rc(CompletionQueue queue) {
    return QueuePairConfig.rc(queue, queue).sendDepth(4).receiveDepth(4);
  }

  private static ReceiveRequest receive(MemoryRegion region) {
    return new ReceiveRequest().wrId(1).into(region, 0, 64);
  }

  private static SendRequest send(MemoryRegion region, String text) {
    region.segment().setString(1024, text);
    return new SendRequest().wrId(2).send().sge(region, 1024, 64).signaled();
  }

  @Test
  void privateDataGoesBothWays() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      Future<RdmaConnection> accepted =
          threads.submit(
              () -> {
                RdmaRequest request = server.next(SOON).orElseThrow();
                assertThat(text(request.privateData())).startsWith("ping");
                return request.accept(server().withPrivateData(bytes("pong")));
              });
      try (RdmaConnection active =
              RdmaConnection.connect(
                  server.localAddress(), client().withPrivateData(bytes("ping")));
          RdmaConnection passive = accepted.get()) {
        assertThat(text(active.peerData())).startsWith("pong");
        assertThat(active.remoteAddress()).isEqualTo(server.localAddress());
        assertThat(passive.queuePair().state()).isEqualTo(QpState.RTS);
        assertThat(active.closed()).isNotDone();
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void peersCloseCompletesClosedAndFlushes() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      Future<RdmaConnection> accepted = threads.submit(() -> server.accept(SOON).orElseThrow());
      RdmaConnection active = RdmaConnection.connect(server.localAddress(), client());
      try (RdmaConnection passive = accepted.get()) {
        try (MemoryRegion region =
            passive.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
          passive.queuePair().postReceive(receive(region));
          active.close();
          passive.closed().get(SOON.toSeconds(), TimeUnit.SECONDS);
          assertThat(passive.queuePair().state()).isEqualTo(QpState.ERR);
          assertThat(await(passive.receiveCompletionQueue())).isEqualTo(WcStatus.WR_FLUSH_ERR);
        }
      }
      assertThat(active.closed()).isDone();
    }
  }

  @Test
  void refusalIsEconnrefusedAndLeavesNothing() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      Future<?> refused =
          threads.submit(
              () -> {
                server.next(SOON).orElseThrow().reject(new byte[0]);
                return null;
              });
      assertErrno(Errno.ECONNREFUSED, () -> RdmaConnection.connect(server.localAddress(), client()))
          .hasMessageContaining("the peer refuses");
      refused.get();
    }
  }

  @Test
  void unansweredRequestTimesOutWithTheCause() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      assertErrno(
              Errno.ETIMEDOUT,
              () ->
                  RdmaConnection.connect(
                      server.localAddress(), client().withTimeout(Duration.ofMillis(200))))
          .hasMessageContaining("no RDMA_CM_EVENT_ESTABLISHED within 200 ms");
      server.next(SOON).orElseThrow().close();
      assertThat(server.next(Duration.ZERO)).isEmpty();
    }
  }

  @Test
  void failureOfPrepareIsNotHiddenByThatOfClose() throws Exception {
    List<QueuePair> pairs = new ArrayList<>();
    List<RdmaConnection> failed = new ArrayList<>();
    RdmaOptions options =
        client()
            .withPrepare(
                c -> {
                  failed.add(c);
                  pairs.add(it.client.pd.createQueuePair(rc(c.sendCompletionQueue())));
                  throw new IllegalStateException("not prepared");
                });
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      assertThatThrownBy(() -> RdmaConnection.connect(server.localAddress(), options))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("not prepared")
          .satisfies(
              e -> assertThat(e.getSuppressed()).singleElement().asString().contains("EBUSY"));
      pairs.forEach(QueuePair::close);
      failed.forEach(RdmaConnection::close);
    }
  }

  /** What is made of all kinds; the region is in use by a receive. */
  private static void prepare(RdmaConnection connection) {
    ProtectionDomain domain = connection.protectionDomain();
    MemoryRegion region = domain.allocate(4096, AccessFlag.LOCAL_WRITE);
    connection.queuePair().postReceive(receive(region));
    domain.register(Arena.ofAuto().allocate(64), AccessFlag.LOCAL_WRITE);
    domain.createQueuePair(rc(connection.sendCompletionQueue()));
  }

  /** Both ends have the failure, and their devices can be closed. */
  @Test
  void failedConnectionReleasesWhatWasMadeInItsDomain() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      Future<?> refusing =
          threads.submit(
              () -> {
                server.next(SOON).orElseThrow().reject(new byte[0]);
                RdmaRequest given = server.next(SOON).orElseThrow();
                assertThatThrownBy(
                        () ->
                            given.accept(
                                server()
                                    .withPrepare(RdmaConnectionTest::prepare)
                                    .withPrivateData(new byte[MORE_THAN_FITS])))
                    .isInstanceOf(VerbsException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
                return null;
              });
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(
                () ->
                    RdmaConnection.connect(
                        server.localAddress(), client().withPrepare(RdmaConnectionTest::prepare)))
            .isInstanceOf(VerbsException.class)
            .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
      }
      refusing.get();
    }
  }

  @Test
  void failedConnectionReleasesNothingOfTheProgramsDomain() throws Exception {
    List<MemoryRegion> made = new ArrayList<>();
    RdmaOptions options =
        client()
            .withQueuePair(it.client.pd, rc(it.client.cq))
            .withPrepare(
                c -> {
                  made.add(c.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE));
                  throw new IllegalStateException("not prepared");
                });
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), server())) {
      assertThatThrownBy(() -> RdmaConnection.connect(server.localAddress(), options))
          .hasMessage("not prepared")
          .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
    }
    assertThat(made).singleElement().satisfies(region -> region.segment().setString(0, "open"));
    made.forEach(MemoryRegion::close);
  }

  /** A thousand connections from eight threads. */
  @Test
  void thousandConnectionsLeaveNothing() throws Exception {
    int count = 1000;
    RdmaOptions small = server().withDepths(1, 1);
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), small)) {
      Future<Integer> served = threads.submit(() -> serve(server, count));
      List<Future<?>> clients = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        clients.add(threads.submit(() -> connectAndClose(server.localAddress(), count / 8)));
      }
      for (Future<?> client : clients) {
        client.get();
      }
      assertThat(served.get()).isEqualTo(count);
    }
  }

  private static int serve(RdmaServer server, int count) throws Exception {
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RdmaConnection connection = server.accept(SOON).orElseThrow();
      ends.add(connection.closed().thenRunAsync(connection::close, Thread::startVirtualThread));
    }
    ends.forEach(CompletableFuture::join);
    return count;
  }

  private Void connectAndClose(InetSocketAddress to, int count) throws Exception {
    RdmaOptions small = client().withDepths(1, 1);
    for (int i = 0; i < count; i++) {
      try (RdmaConnection connection = RdmaConnection.connect(to, small)) {
        assertThat(connection.queuePair().state()).isEqualTo(QpState.RTS);
      }
    }
    return null;
  }
}

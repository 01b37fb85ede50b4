package org.hghca.programs.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

/** Both sides of an rping, on queue pairs that are connected without a connection manager. */
class PingingTest {

  /** One side: an end on a software HCA of its own, and what it prints. */
  private static final class Side implements AutoCloseable {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final Context context;
    private final ProtectionDomain pd;
    private final RpingEnd end;

    Side(String device, int size) {
      context = RdmaDevices.open(device);
      pd = context.allocateProtectionDomain();
      end = new RpingEnd(pd, size, this::create, new PrintWriter(err, true));
    }

    /** In INIT, where receives can be posted, as a connection manager makes them. */
    private QueuePair create(ProtectionDomain domain, QueuePairConfig config) {
      QueuePair qp = domain.createQueuePair(config);
      qp.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
      return qp;
    }

    Pinging pinging() {
      return new Pinging(end, true, new PrintWriter(out, true), new PrintWriter(err, true));
    }

    /** Brings the queue pair to RTS, in a thread of its own. */
    CompletableFuture<Void> connect(
        CompletableFuture<QpEndpoint> ours, CompletableFuture<QpEndpoint> theirs) {
      return CompletableFuture.runAsync(
          () ->
              end.queuePair()
                  .connect(
                      ConnectionOptions.DEFAULT.withAccess(
                          AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE),
                      local -> {
                        ours.complete(local);
                        return theirs.join();
                      }),
          task -> Thread.ofPlatform().start(task));
    }

    /** As a connection manager does when the peer ends the connection. */
    void disconnect() {
      end.disconnected();
      end.queuePair().modify(QpAttributes.to(QpState.ERR));
    }

    @Override
    public void close() {
      end.close();
      pd.close();
      context.close();
    }
  }

  private static void connect(Side server, Side client) {
    CompletableFuture<QpEndpoint> servers = new CompletableFuture<>();
    CompletableFuture<QpEndpoint> clients = new CompletableFuture<>();
    CompletableFuture.allOf(server.connect(servers, clients), client.connect(clients, servers))
        .join();
  }

  private static CompletableFuture<Integer> serve(Side server) {
    CompletableFuture<Integer> status = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                status.complete(server.pinging().serve());
              } catch (InterruptedException | RuntimeException e) {
                status.completeExceptionally(e);
              }
            });
    return status;
  }

  @Test
  void serverReadsAndWritesBackWhatTheClientSends() throws Exception {
    try (Side server = new Side("model:s?cable=pinging", 64);
        Side client = new Side("model:c?cable=pinging", 64)) {
      connect(server, client);
      CompletableFuture<Integer> served = serve(server);
      assertThat(client.pinging().ping(2, true)).isZero();
      assertThat(client.out.toString().lines())
          .containsExactly(
              "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr",
              "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs");
      server.disconnect();
      assertThat(served.get(30, TimeUnit.SECONDS)).isZero();
      assertThat(server.err.toString().lines()).containsExactly("wait for RDMA_READ_ADV state 10");
      assertThat(server.out.toString().lines())
          .first()
          .isEqualTo(
              "server ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
      assertThat(client.err.toString()).isEmpty();
    }
  }

  @Test
  void differentSizesFailTheServerWithTheFix() throws Exception {
    try (Side server = new Side("model:s?cable=pinging", 64);
        Side client = new Side("model:c?cable=pinging", 100)) {
      connect(server, client);
      CompletableFuture<Integer> served = serve(server);
      client.end.advertiseSource();
      assertThat(served.get(30, TimeUnit.SECONDS)).isEqualTo(-1);
      assertThat(server.err.toString().lines())
          .containsExactly(
              "the peer's ping has 100 bytes, and this end has room for 64: give both the same -S",
              "wait for RDMA_READ_COMPLETE state 11");
    }
  }
}

package org.hghca.examples;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_ATOMIC;
import static org.hghca.verbs.AccessFlag.REMOTE_READ;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RemoteMemory;

/**
 * A key-value store whose server is at rest: clients find a key by RDMA READ and change it by RDMA
 * WRITE, and a compare-and-swap keeps writers from each other. {@link KvTable} is what they do.
 */
final class Kv implements Example {
  private static final int CLIENTS = 4;
  private static final int ROUNDS = 50;

  /** The key that all clients change. */
  private static final long SHARED = 7;

  @Override
  public String shows() {
    return "a key-value store: readers by RDMA READ, writers by compare-and-swap, a server at rest";
  }

  @Override
  public Set<DeviceFeature> needs() {
    return Set.of(DeviceFeature.ATOMICS);
  }

  @Override
  public void server(End end) throws Exception {
    List<RdmaConnection> clients = new ArrayList<>();
    try (ProtectionDomain pd = end.context().allocateProtectionDomain();
        CompletionQueue cq = end.context().createCompletionQueue(2 * CLIENTS);
        MemoryRegion table =
            pd.allocate(KvTable.BYTES, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC);
        RdmaServer server = Connections.listen(end)) {
      try {
        RdmaOptions options =
            Connections.options(end)
                .withQueuePair(pd, QueuePairConfig.rc(cq, cq))
                .withPrivateData(table.remote().toBytes()); // address and key of the table
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(Connections.accept(server, options));
        }
        // Nothing to do: no message comes, and no completion, until the clients leave.
        for (RdmaConnection client : clients) {
          client.closed().get(End.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        long value = KvTable.local(table.segment(), SHARED);
        end.say("%d clients have left, key %d is %d".formatted(CLIENTS, SHARED, value));
      } finally {
        clients.forEach(RdmaConnection::close);
      }
    }
  }

  @Override
  public void client(End end) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Long>> done = new ArrayList<>();
      for (long i = 0; i < CLIENTS; i++) {
        long own = 100 + i;
        done.add(threads.submit(() -> use(end, own)));
      }
      long retries = 0;
      for (Future<Long> one : done) {
        retries += one.get();
      }
      end.say("%d retries behind other writers".formatted(retries));
    }
  }

  private static long use(End end, long own) throws Exception {
    try (ProtectionDomain pd = end.context().allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(KvTable.LOCAL_BYTES, LOCAL_WRITE);
        CompletionQueue cq = end.context().createCompletionQueue(2);
        RdmaConnection connection =
            Connections.connect(
                end,
                Connections.options(end)
                    .withQueuePair(pd, QueuePairConfig.rc(cq, cq).signalAll()))) {
      byte[] sent = Arrays.copyOf(connection.peerData(), RemoteMemory.BYTES);
      KvTable table = new KvTable(connection.queuePair(), memory, RemoteMemory.of(sent));
      for (int i = 1; i <= ROUNDS; i++) {
        table.add(SHARED, 1);
        table.add(own, 1);
        End.check(table.get(own).equals(OptionalLong.of(i)), "a lost update of key " + own);
      }
      End.check(table.get(1).isEmpty(), "a key that nobody has written");
      end.say("key %d is %d".formatted(own, table.get(own).getAsLong()));
      return table.retries();
    }
  }
}

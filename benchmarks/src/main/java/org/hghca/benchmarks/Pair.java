package org.hghca.benchmarks;

import java.util.List;
import java.util.stream.IntStream;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/**
 * Two devices, and of each a protection domain and a completion queue that all connections share.
 * Used by one thread.
 *
 * @param depth requests that each work queue takes
 */
record Pair(Side client, Side server, int depth) implements AutoCloseable {
  static final int INLINE = 8;

  private static final int PORT = 1;
  private static final int READS = 16;

  /** Empty polls, after which a software HCA may need the core. */
  private static final int POLLS_BETWEEN_YIELDS = 200;

  /** One of the two. */
  record Side(Context context, ProtectionDomain pd, CompletionQueue cq, Completions completions)
      implements AutoCloseable {

    private static Side of(Context context, int completions) {
      return new Side(
          context,
          context.allocateProtectionDomain(),
          context.createCompletionQueue(completions),
          new Completions(Stream.LIST));
    }

    private QueuePair queuePair(int depth) {
      return pd.createQueuePair(
          QueuePairConfig.rc(cq, cq).sendDepth(depth).receiveDepth(depth).maxInline(INLINE));
    }

    MemoryRegion memory(long bytes) {
      return pd.allocate(
          bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    }

    private QpEndpoint endpoint(QueuePair qp) {
      return new QpEndpoint(
          context.queryPort(PORT).lid(),
          qp.number(),
          0,
          context.queryGid(PORT, 0),
          qp.offerWrapMemory());
    }

    private void connect(QueuePair qp, QpEndpoint peer) {
      ConnectionOptions options =
          ConnectionOptions.DEFAULT
              .withPathMtu(context.queryPort(PORT).activeMtu())
              .withReadAtomic(READS);
      qp.modify(options.toInit(QpType.RC));
      peer.wrapMemory().ifPresent(qp::takeWrapMemory);
      qp.modify(options.toRtr(QpType.RC, peer));
      qp.modify(options.toRts(QpType.RC, 0));
    }

    /** The number of completions found at once, all of them successful. */
    int poll() {
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        if (!completions.isSuccess(i)) {
          throw new IllegalStateException(completions.describe(i));
        }
      }
      return count;
    }

    /** Polls until there is a completion; returns their number. */
    int await() {
      while (true) {
        for (int i = 0; i < POLLS_BETWEEN_YIELDS; i++) {
          int count = poll();
          if (count != 0) {
            return count;
          }
          Thread.onSpinWait();
        }
        Thread.yield();
      }
    }

    @Override
    public void close() {
      cq.close();
      pd.close();
    }
  }

  /** Two connected queue pairs. */
  record Connection(QueuePair client, QueuePair server) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  /**
   * Makes what connections of two devices share.
   *
   * @param connections at most
   * @param depth requests that each of their work queues takes
   */
  static Pair of(Context client, Context server, int connections, int depth) {
    int completions = completions(connections, depth);
    return new Pair(Side.of(client, completions), Side.of(server, completions), depth);
  }

  /** What all of their requests may have in a completion queue. */
  static int completions(int connections, int depth) {
    return connections * 2 * depth;
  }

  Connection connect() {
    Connection made = new Connection(client.queuePair(depth), server.queuePair(depth));
    QpEndpoint ofServer = server.endpoint(made.server());
    server.connect(made.server(), client.endpoint(made.client()));
    client.connect(made.client(), ofServer);
    return made;
  }

  List<Connection> connect(int count) {
    return IntStream.range(0, count).mapToObj(i -> connect()).toList();
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}

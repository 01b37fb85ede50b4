package org.hghca.tools.monitor;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
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
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/** Two devices of this process at a cable, with a queue pair each, which are connected. */
final class ConnectedPair implements AutoCloseable {
  private static final int PSN = 100;

  final End left;
  final End right;

  /** One of the two. */
  static final class End implements AutoCloseable {
    final Context context;
    final ProtectionDomain pd;
    final CompletionQueue queue;
    final QueuePair qp;
    final MemoryRegion memory;

    End(String locator) {
      context = RdmaDevices.open(locator);
      pd = context.allocateProtectionDomain();
      queue = context.createCompletionQueue(64);
      qp = pd.createQueuePair(QueuePairConfig.of(QpType.RC, queue, queue));
      memory = pd.allocate(1 << 16, Set.of(AccessFlag.LOCAL_WRITE));
    }

    QpEndpoint endpoint() {
      return new QpEndpoint(0, qp.number(), PSN, context.queryGid(1, 0));
    }

    void connect(End peer) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      qp.modify(options.toInit(QpType.RC));
      qp.modify(options.toRtr(QpType.RC, peer.endpoint()));
      qp.modify(options.toRts(QpType.RC, PSN));
    }

    /** What its context counts, by the names of counters. */
    Map<String, Long> counted() {
      Map<String, Long> values = new HashMap<>();
      context.counters().asMap().forEach((counter, value) -> values.put(counter.text(), value));
      return values;
    }

    private void await() {
      Completions completions = new Completions(1);
      while (queue.poll(completions) == 0) {
        Thread.onSpinWait();
      }
      if (completions.status(0) != WcStatus.SUCCESS) {
        throw new AssertionError(completions.status(0));
      }
    }

    @Override
    public void close() {
      pd.closeWithContents();
      queue.close();
      context.close();
    }
  }

  ConnectedPair(String name) {
    left = new End("model:%s-left?cable=%s".formatted(name, name));
    right = new End("model:%s-right?cable=%s".formatted(name, name));
    left.connect(right);
    right.connect(left);
  }

  /** Sends from the left to the right, and waits until both have completed it. */
  void send(int bytes) {
    right.qp.postReceive(new ReceiveRequest(1).into(right.memory, 0, bytes));
    left.qp.postSend(new SendRequest().send().sge(left.memory, 0, bytes).signaled());
    left.await();
    right.await();
  }

  @Override
  public void close() {
    left.close();
    right.close();
  }
}

package org.hghca.driver.object;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.driver.rtl.RtlFamily;
import org.hghca.driver.rtl.recovery.SoftwareMaintenance;
import org.hghca.model.Simulation;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/**
 * A card of the first RTL with queue pairs that are each other's peers, whose sends the test
 * supervises itself, in its own time.
 */
final class MaintainedCard implements AutoCloseable {
  static final long MS = 1_000_000;
  static final long SECOND = 1000 * MS;

  /** That of {@link ConnectionOptions#DEFAULT}: code 14, and 7 retries. */
  static final long TIME_OUT = 8 * 4096L << 14;

  /** A queue pair that does not exist: there is no answer. */
  static final int NOBODY = 900;

  private static final AtomicInteger NAMES = new AtomicInteger();

  private final Simulation simulation;
  final DriverFixture it;
  final SoftwareHca hca;
  final SoftwareMaintenance maintenance;
  final MemoryRegion memory;
  final CompletionChannel channel;
  final HghcaCompletionQueue cq;
  private final List<HghcaQueuePair> queuePairs = new ArrayList<>();

  MaintainedCard() {
    this("");
  }

  /** With more parameters of the locator, each behind an ampersand. */
  MaintainedCard(String parameters) {
    String name = "maintained-%d".formatted(NAMES.incrementAndGet());
    simulation = Simulation.inline(name);
    it = new DriverFixture("&profile=r1&sim=" + name + parameters);
    hca = simulation.hca(it.function.locator().name()).orElseThrow();
    maintenance = ((RtlFamily) it.device.family()).recovery().maintenance();
    maintenance.stop(); // the test supervises the card itself
    memory =
        it.pd.allocate(
            8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    channel = it.context.createCompletionChannel();
    cq =
        (HghcaCompletionQueue)
            it.context.createCompletionQueue(CompletionQueueConfig.of(256).withChannel(channel));
  }

  HghcaQueuePair queuePair() {
    return queuePair(QueuePairConfig.rc(cq, cq).sendDepth(8).receiveDepth(4).signalAll());
  }

  HghcaQueuePair queuePair(QueuePairConfig attributes) {
    HghcaQueuePair qp = (HghcaQueuePair) it.pd.createQueuePair(attributes);
    queuePairs.add(qp);
    return qp;
  }

  /** Takes a queue pair to RTS; its peer need not be there. */
  void connect(HghcaQueuePair qp, int peer) {
    connect(qp, peer, ConnectionOptions.DEFAULT.toRts(QpType.RC, 7));
  }

  /** As {@link #connect(HghcaQueuePair, int)}, with one time-out of a code and no retries. */
  void connect(HghcaQueuePair qp, int peer, int timeout) {
    connect(qp, peer, ConnectionOptions.DEFAULT.toRts(QpType.RC, 7).timeout(timeout).retryCount(0));
  }

  private void connect(HghcaQueuePair qp, int peer, QpAttributes toRts) {
    qp.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
    qp.modify(ConnectionOptions.DEFAULT.toRtr(QpType.RC, endpoint(peer)));
    qp.modify(toRts);
  }

  QpEndpoint endpoint(int peer) {
    return new QpEndpoint(0, peer, 7, it.context.queryGid(1, 0));
  }

  HghcaQueuePair connectedTo(int peer) {
    HghcaQueuePair qp = queuePair();
    connect(qp, peer);
    return qp;
  }

  ReceiveRequest receive(int bytes) {
    return new ReceiveRequest().wrId(5).into(memory, 0, bytes);
  }

  SendRequest send(int bytes) {
    return new SendRequest().send().sge(memory, 4096, bytes);
  }

  SendRequest write(int bytes) {
    return new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 4096, bytes);
  }

  SendRequest read(int bytes) {
    return new SendRequest().rdmaRead(memory.address(), memory.rkey()).sge(memory, 4096, bytes);
  }

  /** The statuses of all pending completions. */
  List<WcStatus> poll() {
    Completions found = new Completions(16);
    List<WcStatus> statuses = new ArrayList<>();
    for (int n = cq.poll(found); n > 0; n = cq.poll(found)) { // a poll lets other requests continue
      for (int i = 0; i < n; i++) {
        statuses.add(found.status(i));
      }
    }
    return statuses;
  }

  @Override
  public void close() {
    hca.stallAfter(-1);
    queuePairs.forEach(HghcaQueuePair::close);
    memory.close();
    cq.close();
    channel.close();
    it.close();
    simulation.close();
  }
}

package org.hghca.benchmarks;

import java.util.concurrent.atomic.AtomicLong;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;

/**
 * A connected queue pair on a device without a data path, and a script that completes posted
 * requests, so that only the driver is measured.
 */
final class Rig implements AutoCloseable {
  /** Work requests in a batch, slots of a queue, entries of a completion ring. */
  static final int BATCH = 128;

  static final int POLL = 16;

  /** A virtio device that wants no notification of a post, and one that wants each. */
  static final String VIRTIO = "virtio";

  static final String VIRTIO_KICKED = "virtio-kicked";

  private final Context context;
  private final ProtectionDomain pd;
  final MemoryRegion memory;
  final CompletionQueue sendQueue;
  final CompletionQueue receiveQueue;
  private final CompletionQueue peerQueue;
  private final QueuePair peer;
  final QueuePair qp;
  final Completions completions = new Completions(POLL);
  final SendRequest[] sends = new SendRequest[POLL];
  final SendRequest send = new SendRequest();
  final SendRequest inline = new SendRequest();
  final SendRequest atomic = new SendRequest();
  final ReceiveRequest receive = new ReceiveRequest();

  private final Script script;

  /**
   * A rig.
   *
   * @param allKinds whether all kinds of register regions have been used before in this process
   * @param singleOwner whether posting takes no lock
   * @param profile of the card: s or r1; or {@link #VIRTIO}, {@link #VIRTIO_KICKED}
   */
  Rig(boolean allKinds, boolean singleOwner, String profile) {
    if (allKinds) {
      useAllKinds();
    }
    script =
        switch (profile) {
          case VIRTIO -> new VirtioScript(false);
          case VIRTIO_KICKED -> new VirtioScript(true);
          default -> new CardScript(profile);
        };
    context = script.open();
    pd = context.allocateProtectionDomain();
    memory =
        pd.allocate(
            1 << 20, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    CompletionQueueConfig small = CompletionQueueConfig.of(BATCH).withRingEntries(BATCH);
    sendQueue = script.createQueue(context, small);
    receiveQueue = script.createQueue(context, small);
    QueuePairConfig config =
        QueuePairConfig.rc(sendQueue, receiveQueue)
            .sendDepth(BATCH)
            .receiveDepth(BATCH)
            .maxInline(16);
    qp = pd.createQueuePair(singleOwner ? config.singleOwner() : config);
    peerQueue = context.createCompletionQueue(BATCH);
    peer = pd.createQueuePair(QueuePairConfig.rc(peerQueue, peerQueue));
    connect(qp, peer);
    script.start(qp, peer);

    for (int i = 0; i < POLL; i++) {
      sends[i] = new SendRequest().wrId(i);
      sends[i].rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 64).signaled();
    }
    send.wrId(7).rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 64).signaled();
    inline.rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 16).inline().signaled();
    atomic.fetchAndAdd(memory.address(), memory.rkey(), 1).sge(memory, 64, 8).signaled();
    receive.wrId(9).into(memory, 0, 4096);
  }

  private static void connect(QueuePair a, QueuePair b) {
    a.connect(
        endpointOfA -> {
          var endpointOfB = new QpEndpoint[1];
          b.connect(
              local -> {
                endpointOfB[0] = local;
                return endpointOfA;
              });
          return endpointOfB[0];
        });
  }

  /** Sends over a software HCA with trapped doorbells, and stores through other handlers. */
  private static void useAllKinds() {
    AtomicLong sink = new AtomicLong();
    MmioRegion trapped =
        MmioRegion.trapped(
            4096,
            new MmioHandler() {
              @Override
              public long read(long offset, int width) {
                return sink.get();
              }

              @Override
              public void write(long offset, int width, long value) {
                sink.addAndGet(value);
              }
            });
    for (int i = 0; i < 50_000; i++) {
      trapped.writeLong(0, i);
      sink.addAndGet(trapped.readLong(8));
    }
    try (Context context = RdmaDevices.open("model:all-kinds?mode=inline");
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        CompletionQueue cq = context.createCompletionQueue(64);
        QueuePair a = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(16));
        QueuePair b = pd.createQueuePair(QueuePairConfig.rc(cq, cq))) {
      connect(a, b);
      SendRequest write = new SendRequest();
      Completions completions = new Completions(POLL);
      write.rdmaWrite(memory.address(), memory.rkey()).sge(memory, 0, 8).signaled();
      for (int i = 0; i < 50_000; i++) {
        a.postSend(write);
        while (cq.poll(completions) == 0) {
          Thread.onSpinWait();
        }
        if (!completions.isSuccess(0)) {
          throw new IllegalStateException(completions.describe(0));
        }
      }
    }
  }

  /** Posts a READ and takes its completion. */
  void read() {
    qp.postSend(
        new SendRequest()
            .rdmaRead(memory.address(), memory.rkey())
            .sge(memory, 4096, 64)
            .signaled());
    int _ = takeSends(1);
  }

  /**
   * Completes and polls the posted requests, as the card has them: all at once, or one by one where
   * the driver rings a request when the one before it is complete.
   */
  int takeSends(int count) {
    int complete = 0;
    int taken = 0;
    while (taken < count) {
      if (taken == complete) {
        int more = Math.min(script.window(), count - complete);
        complete += completeSends(more);
      }
      taken += pollSends(taken);
    }
    return taken;
  }

  /** Once in 2^24 packets, a READ carries the PSN of a send of the first RTL over the wrap. */
  private int pollSends(int taken) {
    int count = sendQueue.poll(completions);
    if (count == 0) {
      script.completeAfterRead();
      count = pollSome(sendQueue, taken);
    }
    return count;
  }

  /** Completes a batch of sends, on a card that has them all. */
  void completeSends() {
    int complete = 0;
    while (complete < BATCH) {
      complete += completeSends(BATCH - complete);
    }
  }

  /** Completes sends, at most so many; returns how many. */
  int completeSends(int most) {
    return script.completeSends(most);
  }

  /** Completes the batch of receives that was posted. */
  void completeReceives() {
    script.completeReceives();
  }

  /** Polls until the batch is taken. */
  int pollAll(CompletionQueue queue) {
    int taken = 0;
    while (taken < BATCH) {
      taken += pollSome(queue, taken);
    }
    return taken;
  }

  private int pollSome(CompletionQueue queue, int taken) {
    int count = queue.poll(completions);
    if (count == 0) {
      throw new IllegalStateException("the script lost a completion after " + taken);
    }
    return count;
  }

  @Override
  public void close() {
    qp.close();
    peer.close();
    peerQueue.close();
    receiveQueue.close();
    sendQueue.close();
    memory.close();
    pd.close();
    context.close();
  }
}

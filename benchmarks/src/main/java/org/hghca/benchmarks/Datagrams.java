package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Posting datagrams, as {@link Posting} posts RDMA WRITEs: between two batches of 128, outside the
 * measured time, they are completed and polled. One operation is one request.
 */
public class Datagrams extends TimedPath {
  private static final int BATCH = Rig.BATCH;
  private static final int QKEY = 0x1111_1111;

  /** Bytes of a slot: next unit, destination and one element. */
  private static final int SLOT = 128;

  private final MemorySegment script = Arena.ofAuto().allocate((long) BATCH * Cqe.SIZE, Cqe.SIZE);
  private final Completions completions = new Completions(16);
  private final SendRequest send = new SendRequest();
  private Context context;
  private ProtectionDomain pd;
  private MemoryRegion memory;
  private CompletionQueue queue;
  private MemorySegment ring;
  private QueuePair qp;
  private AddressHandle peer;

  @Setup(Level.Trial)
  public void open() {
    context = RdmaDevices.open("bench:" + System.nanoTime());
    pd = context.allocateProtectionDomain();
    memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE);
    BenchFunction.last().mark();
    queue =
        context.createCompletionQueue(CompletionQueueConfig.of(BATCH).withRingEntries(2 * BATCH));
    ring = BenchFunction.last().newRing();
    qp = pd.createQueuePair(QueuePairConfig.ud(queue, queue).sendDepth(BATCH));
    qp.activate(QKEY);
    peer = pd.createAddressHandle(AddressVector.to(context.queryGid(1, 0), 0));
    send.send().to(peer, qp.number(), QKEY).sge(memory, 0, 64).signaled();
    for (int i = 0; i < BATCH; i++) {
      Cqe.encodeSuccess(
          script,
          (long) i * Cqe.SIZE,
          qp.number(),
          qp.number(),
          0,
          0,
          64,
          i * SLOT,
          true,
          WqeOpcode.SEND,
          Cqe.OWNER_SOFTWARE);
    }
  }

  private int batch;

  @TearDown(Level.Invocation)
  public void complete() {
    long half = (long) (batch++ & 1) * BATCH * Cqe.SIZE;
    MemorySegment.copy(script, 0, ring, half, script.byteSize());
    for (int taken = 0; taken < BATCH; ) {
      int count = queue.poll(completions);
      if (count == 0) {
        throw new IllegalStateException("the script lost a completion after " + taken);
      }
      taken += count;
    }
  }

  @TearDown(Level.Trial)
  public void close() {
    peer.close();
    qp.close();
    queue.close();
    memory.close();
    pd.close();
    context.close();
  }

  /** A datagram of one element, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void sendOneSge() {
    for (int i = 0; i < BATCH; i++) {
      qp.postSend(send);
    }
  }
}

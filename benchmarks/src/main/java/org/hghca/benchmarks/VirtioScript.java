package org.hghca.benchmarks;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.SendRequest;

/** A virtio device that has done each request when it is asked to, with success. */
final class VirtioScript implements Script {
  private final boolean kicked;
  private final List<DeviceQueue> completions = new ArrayList<>();
  private DeviceQueue sends;
  private DeviceQueue receives;
  private int qpn;

  /**
   * @param kicked whether the device wants a notification of each post
   */
  VirtioScript(boolean kicked) {
    this.kicked = kicked;
  }

  @Override
  public Context open() {
    return RdmaDevices.open("bench-virtio:" + System.nanoTime() + (kicked ? "?kicked=on" : ""));
  }

  @Override
  public CompletionQueue createQueue(Context context, CompletionQueueConfig config) {
    CompletionQueue queue = context.createCompletionQueue(config);
    completions.add(BenchVirtioFunction.last().lastQueue());
    return queue;
  }

  @Override
  public void start(QueuePair qp, QueuePair peer) {
    BenchVirtioFunction function = BenchVirtioFunction.last();
    QueuePlan plan = function.plan();
    qpn = qp.number();
    sends = function.queue(plan.send(qpn));
    receives = function.queue(plan.receiveOf(qpn));
  }

  @Override
  public int window() {
    return Rig.BATCH;
  }

  @Override
  public int completeSends(int most) {
    complete(sends, completions.getFirst(), CompletionEntry.RDMA_WRITE, most);
    return most;
  }

  @Override
  public void completeReceives() {
    complete(receives, completions.getLast(), CompletionEntry.RECV, Rig.BATCH);
  }

  private void complete(DeviceQueue work, DeviceQueue into, int opcode, int count) {
    for (int i = 0; i < count; i++) {
      work.look();
      // A receive has its number at the same place.
      long number = SendRequest.WR_ID.getLong(work.buffer(), work.at());
      work.use(0);
      into.look();
      MemorySegment entry = into.buffer();
      long at = into.at();
      CompletionEntry.WR_ID.setLong(entry, at, number);
      CompletionEntry.STATUS.set(entry, at, 0);
      CompletionEntry.OPCODE.set(entry, at, opcode);
      CompletionEntry.BYTE_LENGTH.set(entry, at, 64);
      CompletionEntry.QPN.set(entry, at, qpn);
      into.use(CompletionEntry.SIZE);
    }
    work.publish();
    into.publish();
  }
}

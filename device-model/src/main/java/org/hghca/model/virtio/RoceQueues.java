package org.hghca.model.virtio;

import java.util.BitSet;
import java.util.Optional;
import org.hghca.model.card.HostMemory;

/**
 * The virtqueues of the RoCE half, each from when its object exists and the driver has enabled it.
 * Work and completions are given back in a step, and shown to the driver at its end, completions
 * last. Used in steps of the card.
 */
final class RoceQueues {
  /** Where an armed completion queue raises its interrupt. */
  @FunctionalInterface
  interface Interrupts {
    /** Raises an interrupt of a vector. */
    void raise(int vector);
  }

  private final HostMemory host;
  private final CommonRegisters registers;
  private final Interrupts interrupts;
  private final SplitQueue[] completions = new SplitQueue[RoceLimits.CQS];
  private final RoceWorkQueue[] sends = new RoceWorkQueue[RoceLimits.QPS];
  private final RoceWorkQueue[] receives = new RoceWorkQueue[RoceLimits.QPS];

  /** What this step has given back. */
  private final BitSet workDone = new BitSet();

  private final BitSet completed = new BitSet();

  /** Completion queues that raise an interrupt at the end of the step. */
  private final BitSet notifies = new BitSet();

  private Optional<QueueException> broken = Optional.empty();

  RoceQueues(HostMemory host, CommonRegisters registers, Interrupts interrupts) {
    this.host = host;
    this.registers = registers;
    this.interrupts = interrupts;
  }

  void clear() {
    for (int cqn = 0; cqn < completions.length; cqn++) {
      endCompletions(cqn);
    }
    for (int qpn = 0; qpn < sends.length; qpn++) {
      endWork(qpn);
    }
    broken = Optional.empty();
  }

  private Optional<SplitQueue> start(int index) {
    return registers.runs(index)
        ? Optional.of(new SplitQueue(host, registers.queue(index), registers.features()))
        : Optional.empty();
  }

  /** The queue of a completion queue that exists; null when the driver has not enabled it. */
  SplitQueue completions(int cqn) {
    if (completions[cqn] == null) {
      completions[cqn] = start(RoceLimits.QUEUES.completion(cqn)).orElse(null);
    }
    return completions[cqn];
  }

  /** The send queue of a queue pair that exists; null when the driver has not enabled it. */
  RoceWorkQueue sends(int qpn) {
    if (sends[qpn] == null) {
      sends[qpn] = start(RoceLimits.QUEUES.send(qpn)).map(RoceWorkQueue::new).orElse(null);
    }
    return sends[qpn];
  }

  /** The receive queue, as {@link #sends}. */
  RoceWorkQueue receives(int qpn) {
    if (receives[qpn] == null) {
      receives[qpn] = start(RoceLimits.QUEUES.receiveOf(qpn)).map(RoceWorkQueue::new).orElse(null);
    }
    return receives[qpn];
  }

  /** A completion queue is gone: the next one of its number begins at its first entry. */
  void endCompletions(int cqn) {
    completions[cqn] = null;
    completed.clear(cqn);
    notifies.clear(cqn);
  }

  /** A queue pair is gone; as {@link #endCompletions}. */
  void endWork(int qpn) {
    sends[qpn] = null;
    receives[qpn] = null;
    workDone.clear(qpn);
  }

  /** Gives the oldest request of a queue pair back. */
  void giveBack(int qpn, RoceWorkQueue queue) {
    workDone.set(qpn);
    try {
      queue.giveBack();
    } catch (QueueException e) {
      broke(e);
    }
  }

  /** Gives all requests of a queue pair back, without completions. */
  void giveAllBack(int qpn, Chain scratch) throws QueueException {
    workDone.set(qpn);
    if (sends(qpn) != null) {
      sends[qpn].giveAllBack(scratch);
    }
    if (receives(qpn) != null) {
      receives[qpn].giveAllBack(scratch);
    }
  }

  /** A completion queue has got an entry. */
  void completed(int cqn, boolean notify) {
    completed.set(cqn);
    if (notify) {
      notifies.set(cqn);
    }
  }

  /** The driver has broken a rule, which the end of the step reports. */
  void broke(QueueException how) {
    if (broken.isEmpty()) {
      broken = Optional.of(how);
    }
  }

  /** Shows the driver what the step has done. */
  void endStep() throws QueueException {
    if (broken.isPresent()) {
      throw broken.get();
    }
    for (int qpn = workDone.nextSetBit(0); qpn >= 0; qpn = workDone.nextSetBit(qpn + 1)) {
      if (sends[qpn] != null) {
        sends[qpn].queue().show();
      }
      if (receives[qpn] != null) {
        receives[qpn].queue().show();
      }
    }
    workDone.clear();
    for (int cqn = completed.nextSetBit(0); cqn >= 0; cqn = completed.nextSetBit(cqn + 1)) {
      completions[cqn].show();
      if (notifies.get(cqn)) {
        interrupts.raise(completions[cqn].vector());
      }
    }
    completed.clear();
    notifies.clear();
  }

  /** The queue pair of a virtqueue, negative for that of a completion queue. */
  static int qpn(int index) {
    return Math.floorDiv(index - RoceLimits.QUEUES.send(0), 2);
  }
}

package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.hghca.provider.Health;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.roce.CreateCq;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * The completion queues and queue pairs of a device by the numbers that it gives them, with their
 * virtqueues. A virtqueue is set up with the first object that has its number and stays, but for
 * the interrupt vector, which each completion queue chooses; each object begins with an empty one,
 * since the device resets its side with the object. Thread-safe: a number is not given again before
 * its virtqueues are empty.
 */
final class Numbers {
  /** The device or its memory may reduce these. */
  private static final int COMPLETION_ENTRIES = 4096;

  private static final int WORK_ENTRIES = 1024;

  private final VirtioDevice virtio;
  private final QueuePlan plan;
  private final Commands commands;
  private final Health health;
  private final Virtqueue[] completions;
  private final boolean[] completionsUsed;
  private final Virtqueue[] sends;
  private final Virtqueue[] receives;
  private final AtomicReferenceArray<QueuePair> queuePairs;

  /** A completion queue of the device. */
  record Completions(int number, Virtqueue queue) {}

  /** A queue pair of the device. */
  record WorkQueues(int number, Virtqueue sends, Virtqueue receives) {}

  Numbers(VirtioDevice virtio, QueuePlan plan, Commands commands, Health health) {
    this.virtio = virtio;
    this.plan = plan;
    this.commands = commands;
    this.health = health;
    this.completions = new Virtqueue[plan.cqs()];
    this.completionsUsed = new boolean[plan.cqs()];
    this.sends = new Virtqueue[plan.qps()];
    this.receives = new Virtqueue[plan.qps()];
    this.queuePairs = new AtomicReferenceArray<>(plan.qps());
  }

  /** The queue pair with a number; null when there is none. */
  QueuePair queuePair(int number) {
    return Integer.compareUnsigned(number, queuePairs.length()) < 0
        ? queuePairs.getAcquire(number)
        : null;
  }

  /**
   * Creates a completion queue.
   *
   * @param vector its interrupt vector
   */
  synchronized Completions createCompletions(int entries, int vector) {
    int number;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(CreateCq.SIZE);
      CreateCq.CQE.set(data, 0, entries);
      number =
          commands.create(
              RoceCommand.CREATE_CQ, data, "another completion queue of %d".formatted(entries));
    }
    if (Integer.compareUnsigned(number, plan.cqs()) >= 0 || completionsUsed[number]) {
      throw wrong("completion queue", number);
    }
    try {
      if (completions[number] == null) {
        completions[number] = virtio.queue(plan.completion(number), COMPLETION_ENTRIES, vector);
      } else {
        virtio.vector(completions[number], vector);
      }
      completionsUsed[number] = true;
      return new Completions(number, completions[number]);
    } catch (RuntimeException e) {
      commands.destroy(RoceCommand.DESTROY_CQ, number, "the end of the completion queue");
      throw Refusals.of("cannot set up the queue of a completion queue", e);
    }
  }

  synchronized void destroyCompletions(int number) {
    commands.destroy(
        RoceCommand.DESTROY_CQ, number, "the end of completion queue %d".formatted(number));
    completions[number].rewind();
    completionsUsed[number] = false;
  }

  /** Creates a queue pair; its completions are its own from {@link #add} on. */
  synchronized WorkQueues createQueuePair(MemorySegment data) {
    int number = commands.create(RoceCommand.CREATE_QP, data, "another queue pair");
    if (Integer.compareUnsigned(number, plan.qps()) >= 0 || queuePairs.get(number) != null) {
      throw wrong("queue pair", number);
    }
    try {
      if (sends[number] == null) {
        sends[number] = virtio.queue(plan.send(number), WORK_ENTRIES, CommonConfig.NO_VECTOR);
      }
      if (receives[number] == null) {
        receives[number] =
            virtio.queue(plan.receiveOf(number), WORK_ENTRIES, CommonConfig.NO_VECTOR);
      }
      return new WorkQueues(number, sends[number], receives[number]);
    } catch (RuntimeException e) {
      commands.destroy(RoceCommand.DESTROY_QP, number, "the end of the queue pair");
      throw Refusals.of("cannot set up the queues of a queue pair", e);
    }
  }

  void add(QueuePair queuePair) {
    queuePairs.setRelease(queuePair.number(), queuePair);
  }

  /**
   * Destroys a queue pair.
   *
   * @param drop drops its completions, once the device has none in flight
   */
  synchronized void destroyQueuePair(int number, Runnable drop) {
    commands.destroy(RoceCommand.DESTROY_QP, number, "the end of queue pair %d".formatted(number));
    drop.run();
    sends[number].rewind();
    receives[number].rewind();
    queuePairs.setRelease(number, null);
  }

  private VerbsException wrong(String what, int number) {
    String why =
        "the device gave the number %s to a new %s, which is in use or not one of its %d and %d"
            .formatted(Integer.toUnsignedString(number), what, plan.cqs(), plan.qps());
    health.fail(why);
    return new VerbsException(Errno.EIO, why);
  }
}

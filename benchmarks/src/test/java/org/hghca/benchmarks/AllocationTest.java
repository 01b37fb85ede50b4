package org.hghca.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.hghca.verbs.Completions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Posting and polling allocate nothing, by the JVM's own count of the thread's bytes: once each
 * path has run, a round of it allocates not one byte.
 */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** The first rounds load classes and link call sites; a compiler's change of mind costs one. */
  private static final int ROUNDS = 20;

  private static final int BATCHES = 500;

  private final Completions one = new Completions(1);

  @ParameterizedTest(name = "{0}, profile {1}, single owner: {2}")
  @CsvSource({
    "ONE, s, false",
    "ONE, s, true",
    "ONE, r1, false",
    "INLINE, s, false",
    "INLINE, r1, false",
    "LIST, s, false",
    "LIST, r1, false",
    "RECEIVE, s, false",
    "RECEIVE, r1, false",
    "POLL_ONE, s, false",
    "EMPTY_POLL, s, false",
    "EMPTY_POLL, r1, false",
    "ONE, virtio, false",
    "ONE, virtio, true",
    "ONE, virtio-kicked, false",
    "INLINE, virtio, false",
    "LIST, virtio, false",
    "RECEIVE, virtio, false",
    "POLL_ONE, virtio, false",
    "EMPTY_POLL, virtio, false",
  })
  void postingAndPollingAllocateNothing(Path path, String profile, boolean singleOwner) {
    try (Rig rig = new Rig(false, singleOwner, profile)) {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS && least != 0; round++) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < BATCHES; i++) {
          run(path, rig);
        }
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      assertEquals(0, least, "bytes in %d requests".formatted(BATCHES * Rig.BATCH));
    }
  }

  /** What a thread does for a batch. */
  enum Path {
    ONE,
    INLINE,
    LIST,
    RECEIVE,
    POLL_ONE,
    EMPTY_POLL
  }

  private void run(Path path, Rig rig) {
    switch (path) {
      case ONE -> {
        for (int i = 0; i < Rig.BATCH; i++) {
          rig.qp.postSend(rig.send);
        }
        rig.takeSends(Rig.BATCH);
      }
      case INLINE -> {
        for (int i = 0; i < Rig.BATCH; i++) {
          rig.qp.postSend(rig.inline);
        }
        rig.takeSends(Rig.BATCH);
      }
      case LIST -> {
        for (int i = 0; i < Rig.BATCH; i += Rig.POLL) {
          rig.qp.postSend(rig.sends);
        }
        rig.takeSends(Rig.BATCH);
      }
      case RECEIVE -> {
        for (int i = 0; i < Rig.BATCH; i++) {
          rig.qp.postReceive(rig.receive);
        }
        rig.completeReceives();
        rig.pollAll(rig.receiveQueue);
      }
      case POLL_ONE -> {
        for (int i = 0; i < Rig.BATCH; i++) {
          rig.qp.postSend(rig.send);
        }
        rig.completeSends();
        int taken = 0;
        while (taken < Rig.BATCH) {
          taken += rig.sendQueue.poll(one);
        }
      }
      case EMPTY_POLL -> {
        for (int i = 0; i < Rig.BATCH; i++) {
          rig.sendQueue.poll(rig.completions);
        }
      }
    }
  }
}

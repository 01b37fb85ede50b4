package org.hghca.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** How often posts ring the doorbell of a virtio device. */
class DoorbellCountTest {
  private static final int LISTS = Rig.BATCH / Rig.POLL;

  /** Number of notifications while batches are posted, one by one or in lists. */
  private static long notifications(Rig rig, boolean lists) {
    long count = 0;
    for (int batch = 0; batch < 3; batch++) {
      long before = BenchVirtioFunction.last().notifications();
      for (int i = 0; i < (lists ? LISTS : Rig.BATCH); i++) {
        if (lists) {
          rig.qp.postSend(rig.sends);
        } else {
          rig.qp.postSend(rig.send);
        }
      }
      count += BenchVirtioFunction.last().notifications() - before;
      rig.takeSends(Rig.BATCH);
    }
    return count;
  }

  @Test
  void aDeviceThatWantsNoneGetsNone() {
    try (Rig rig = new Rig(false, false, Rig.VIRTIO)) {
      rig.qp.postSend(rig.send); // the device wants to hear of the first one
      rig.takeSends(1);
      assertEquals(0, notifications(rig, false), "one by one");
      assertEquals(0, notifications(rig, true), "in lists");
    }
  }

  @Test
  void aDeviceThatWantsAllGetsOneForEachPost() {
    try (Rig rig = new Rig(false, false, Rig.VIRTIO_KICKED)) {
      assertEquals(3 * Rig.BATCH, notifications(rig, false), "one by one");
      assertEquals(3 * LISTS, notifications(rig, true), "in lists");
    }
  }
}

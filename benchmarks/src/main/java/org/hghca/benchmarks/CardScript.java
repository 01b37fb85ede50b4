package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;

/** The card in place of which prepared completions are copied into the rings in bulk. */
final class CardScript implements Script {
  private static final int SLOT = 64;

  private final String profile;
  private final List<MemorySegment> rings = new ArrayList<>();
  private final MemorySegment receiveScript =
      Arena.ofAuto().allocate(2L * Rig.BATCH * Cqe.SIZE, Cqe.SIZE);
  private MemorySegment sendScript;

  /** Slots of the send ring, and entries of its completions. */
  private int places;

  private int sent;

  /** How many of those completed a READ that carried the PSN over the wrap, before its request. */
  private int carried;

  private int receiveBatch;

  /**
   * A script.
   *
   * @param profile of the card: s or r1
   */
  CardScript(String profile) {
    this.profile = profile;
  }

  @Override
  public Context open() {
    return RdmaDevices.open("bench:" + System.nanoTime() + "?profile=" + profile);
  }

  @Override
  public CompletionQueue createQueue(Context context, CompletionQueueConfig config) {
    BenchFunction.last().mark();
    CompletionQueue queue = context.createCompletionQueue(config);
    rings.add(BenchFunction.last().newRing());
    return queue;
  }

  @Override
  public int window() {
    return profile.equals("s") ? Rig.BATCH : 1;
  }

  @Override
  public void start(QueuePair qp, QueuePair peer) {
    places = (int) (rings.getFirst().byteSize() / Cqe.SIZE);
    sendScript = Arena.ofAuto().allocate((long) places * Cqe.SIZE, Cqe.SIZE);
    for (int i = 0; i < places; i++) {
      Cqe.encodeSuccess(
          sendScript,
          (long) i * Cqe.SIZE,
          qp.number(),
          peer.number(),
          0,
          0,
          64,
          i * SLOT,
          true,
          WqeOpcode.RDMA_WRITE,
          Cqe.OWNER_SOFTWARE);
    }
    // A receive ring has one slot more than its depth, rounded up: two batches go around it once.
    for (int i = 0; i < 2 * Rig.BATCH; i++) {
      Cqe.encodeSuccess(
          receiveScript,
          (long) i * Cqe.SIZE,
          qp.number(),
          peer.number(),
          0,
          0,
          64,
          i * SLOT,
          false,
          BthOpcode.SEND_ONLY,
          Cqe.OWNER_SOFTWARE);
    }
  }

  /** Completes sends as far as the script is contiguous. */
  @Override
  public int completeSends(int most) {
    int place = sent & places - 1;
    int slot = sent - carried & places - 1;
    int count = Math.min(most, places - Math.max(place, slot));
    completeSends(slot, place, count);
    return count;
  }

  @Override
  public void completeAfterRead() {
    carried++;
    completeSends(sent - carried & places - 1, sent & places - 1, 1);
  }

  private void completeSends(int slot, int place, int count) {
    MemorySegment.copy(
        sendScript,
        (long) slot * Cqe.SIZE,
        rings.getFirst(),
        (long) place * Cqe.SIZE,
        (long) count * Cqe.SIZE);
    sent += count;
  }

  @Override
  public void completeReceives() {
    int from = (receiveBatch++ & 1) * Rig.BATCH;
    MemorySegment.copy(
        receiveScript,
        (long) from * Cqe.SIZE,
        rings.getLast(),
        (long) (from & places - 1) * Cqe.SIZE,
        (long) Rig.BATCH * Cqe.SIZE);
  }
}

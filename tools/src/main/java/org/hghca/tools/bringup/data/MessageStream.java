package org.hghca.tools.bringup.data;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * Messages of a reliable connection, SEND, WRITE and READ in turn, many of them in flight, posted
 * one by one and in lists. The bytes of each are compared as soon as its completion is there, with
 * what lies around them. One thread.
 */
final class MessageStream implements AutoCloseable {
  /** Requests of a queue pair that are in flight. */
  static final int DEPTH = 32;

  private static final int SLOT = 1024;
  private static final int GUARD = 64;
  private static final int LONGEST = 640;
  private static final int[] LISTS = {1, 16, 1, 5, 1, 1, 9};

  /** Kinds of messages: SEND, WRITE, READ. */
  private static final WcOpcode[] KINDS = {WcOpcode.SEND, WcOpcode.RDMA_WRITE, WcOpcode.RDMA_READ};

  private final Pair pair;
  private final Window window;
  private final int alignment;
  private final long seed;
  private final ReceiveRequest receive = new ReceiveRequest(1);
  private long receives;
  private long bytes;
  private int lists;

  /**
   * @param seed streams with different seeds have different bytes
   */
  MessageStream(Driver driver, long seed) {
    this.seed = seed;
    alignment = driver.abilities().destinationAlignment();
    pair = Pair.withDepth(driver, 2 * DEPTH * SLOT, DEPTH);
    try {
      pair.connect();
    } catch (RuntimeException e) {
      pair.close();
      throw e;
    }
    window = new Window(driver, pair, DEPTH);
  }

  /** Bytes that were compared and right. */
  long bytes() {
    return bytes;
  }

  /**
   * Sends messages until the quota has no more.
   *
   * @throws org.hghca.tools.bringup.step.StepFailedException at the first message that is wrong
   */
  void run(Observation o, Quota quota) {
    for (int room = quota.room(0); room > 0; room = quota.room(window.outstanding())) {
      int list = Math.min(room, LISTS[lists++ % LISTS.length]);
      while (window.room() < list) {
        take(o);
        quota.did();
      }
      post(list);
    }
    while (window.outstanding() > 0) {
      take(o);
      quota.did();
    }
  }

  private void post(int count) {
    SendRequest[] list = new SendRequest[count];
    for (int i = 0; i < count; i++) {
      list[i] = prepare(window.next() + i);
    }
    if (count == 1) {
      window.post(list[0]);
    } else {
      window.post(list);
    }
  }

  private SendRequest prepare(long message) {
    WcOpcode kind = kind(message);
    boolean read = kind == WcOpcode.RDMA_READ;
    MemoryRegion from = (read ? pair.right() : pair.left()).memory();
    MemoryRegion to = (read ? pair.left() : pair.right()).memory();
    int length = length(message);
    int source = slot(message) + GUARD + (int) (message * 7 % GUARD);
    int target = target(message);
    to.segment().asSlice(targetSlot(message), SLOT).fill(Payload.BLANK);
    Payload.put(Payload.of(seed + message, target, length), from.segment(), source);
    SendRequest request = new SendRequest(1);
    switch (kind) {
      case SEND -> {
        pair.right().pair().postReceive(receive.wrId(receives++).into(to, target, length));
        request.send();
      }
      case RDMA_WRITE -> request.rdmaWrite(to.address() + target, to.rkey());
      default -> request.rdmaRead(from.address() + source, from.rkey());
    }
    return read ? request.sge(to, target, length) : request.sge(from, source, length);
  }

  /** Takes the oldest message and compares it. */
  private void take(Observation o) {
    long message = window.take(o, kind(window.next() - window.outstanding()));
    int length = length(message);
    if (kind(message) == WcOpcode.SEND) {
      window.takeReceive(o, length);
    }
    boolean read = kind(message) == WcOpcode.RDMA_READ;
    MemorySegment memory = (read ? pair.left() : pair.right()).memory().segment();
    byte[] expected = new byte[SLOT];
    Arrays.fill(expected, Payload.BLANK);
    System.arraycopy(
        Payload.of(seed + message, target(message), length),
        0,
        expected,
        target(message) - targetSlot(message),
        length);
    o.compareNow(
        "message %d, %s of %d bytes".formatted(message, kind(message), length),
        expected,
        () -> Payload.get(memory, targetSlot(message), SLOT));
    bytes += length;
  }

  private static WcOpcode kind(long message) {
    return KINDS[(int) (message % KINDS.length)];
  }

  private static int length(long message) {
    return 1 + (int) (message * 37 % LONGEST);
  }

  private static int slot(long message) {
    return (int) (message % DEPTH) * SLOT;
  }

  private static int targetSlot(long message) {
    return DEPTH * SLOT + slot(message);
  }

  private int target(long message) {
    return targetSlot(message) + GUARD + (int) (message * 5 % (GUARD / alignment + 1)) * alignment;
  }

  @Override
  public void close() {
    try {
      window.drain();
    } finally {
      pair.close();
    }
  }
}

package org.hghca.driver;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;

/**
 * What a queue pair holds of a shared receive queue: the requests that stand in its ring, where the
 * card takes them, and those of them that completed and that the shared queue has not heard of.
 * Under the shared queue's lock, unless another one is named.
 */
final class ReceiveShare {
  private static final VarHandle DUE;

  static {
    try {
      DUE = MethodHandles.lookup().findVarHandle(ReceiveShare.class, "due", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final HghcaSharedReceiveQueue queue;
  private final HghcaQueuePair qp;
  private final ReceiveRing ring;

  /**
   * The shared queue's numbers of the requests in the ring's slots, complemented when the card has
   * flushed them. Flushing is the completion queue's, like the ring's tail.
   */
  private final int[] dealt;

  /** The ring's tail when the shared queue last heard of it. */
  private int collected;

  private boolean ended;

  /** The list that this is in, and its neighbours there: the list's own. */
  ShareList list;

  ReceiveShare previous;
  ReceiveShare next;

  @SuppressWarnings("unused") // through DUE
  private int due;

  /** Belongs to the completion queue in whose list of due shares this is. */
  private ReceiveShare nextDue;

  ReceiveShare(HghcaSharedReceiveQueue queue, HghcaQueuePair qp, ReceiveRing ring) {
    this.queue = queue;
    this.qp = qp;
    this.ring = ring;
    this.dealt = new int[ring.slots()];
  }

  HghcaSharedReceiveQueue queue() {
    return queue;
  }

  HghcaQueuePair queuePair() {
    return qp;
  }

  /** How many requests it holds, as far as the shared queue has heard. */
  int held() {
    return ring.head() - collected;
  }

  /** The most that it can hold. */
  int depth() {
    return ring.depth();
  }

  /** Puts a request into the ring, which has room for it. */
  void deal(int number, ReceiveRequest request) {
    dealt[ring.head() & dealt.length - 1] = number;
    if (!ring.post(request, 0)) {
      throw new IllegalStateException("a share of more requests than its ring has slots");
    }
  }

  /** Tells the shared queue of what has completed since. */
  void collect(SharedRequests requests) {
    int end = ring.tail();
    for (int at = end - 1; at - collected >= 0; at--) {
      int number = dealt[at & dealt.length - 1];
      if (number >= 0) {
        requests.complete(number);
      } else {
        requests.giveBack(~number);
      }
    }
    collected = end;
  }

  /**
   * Gives back what is not complete, and empties the ring. The card has ended with it; callers hold
   * the completion queue's lock too.
   */
  void takeBack(SharedRequests requests) {
    collect(requests);
    for (int at = ring.head() - 1; at - collected >= 0; at--) {
      requests.giveBack(dealt[at & dealt.length - 1]);
    }
    ring.reset();
    collected = 0;
    ended = false;
  }

  /** Whether its queue pair is in ERR and it holds nothing: true when that is new. */
  boolean ends() {
    boolean wasEnded = ended;
    ended = qp.state() == QpState.ERR && held() == 0;
    return ended && !wasEnded;
  }

  /** The card has flushed the oldest request. Under the completion queue's lock. */
  void flushOldest() {
    int slot = ring.tail() & dealt.length - 1;
    dealt[slot] = ~dealt[slot];
    ring.discardOldest();
  }

  // ---- the list of a completion queue whose polling found something of it

  /**
   * Something has happened that the shared queue must hear of. Under a completion queue's lock.
   *
   * @param others that queue's list
   * @return the list with this one, unless another completion queue's list has it already
   */
  ReceiveShare addDue(ReceiveShare others) {
    if (!DUE.compareAndSet(this, 0, 1)) {
      return others;
    }
    nextDue = others;
    return this;
  }

  /** The shared queue is about to look; returns the rest of the list. */
  ReceiveShare removeDue() {
    ReceiveShare rest = nextDue;
    nextDue = null;
    DUE.setVolatile(this, 0);
    // What completes from here on either is seen now or makes this due again.
    VarHandle.fullFence();
    return rest;
  }
}

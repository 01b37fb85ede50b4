package org.hghca.provider.srq;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.ReceiveRequest;

/**
 * The part of a shared receive queue that a queue pair holds: the requests in its ring, from which
 * the device takes them, and completed ones that were not reported to the shared queue yet. Under
 * the shared queue's lock, unless another one is named.
 */
public final class ReceiveShare implements Due, SharedReceives {
  private static final VarHandle DUE;

  static {
    try {
      DUE = MethodHandles.lookup().findVarHandle(ReceiveShare.class, "due", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Number of requests of an idle RC queue pair: its peer gets an RNR NAK. */
  private static final int REPEATED = 1;

  /** Number of requests of an idle UC or UD queue pair, whose peers do not retry. */
  private static final int UNREPEATED = 2;

  /** The same if no other queue pair needs requests. */
  private static final int UNREPEATED_ALONE = 16;

  private final SoftwareSrq queue;
  private final SharingQueuePair qp;
  private final DealtRing ring;

  /**
   * The shared queue's numbers of the requests in the ring's slots, complemented when the device
   * has flushed them. The completion queue's lock guards flushing, like the ring's tail.
   */
  private final int[] dealt;

  /** The ring's tail when it was last reported to the shared queue. */
  private int collected;

  /**
   * The known position of the device, polled or not; the ring's tail may be ahead of it. Under the
   * completion queue's lock, read under the shared queue's.
   */
  private volatile int seen;

  /** The position up to which the consumption was measured. */
  private int measured;

  /** Number of requests that the device has taken in this period. */
  private int pace;

  /** Target number of requests, from recent consumption. */
  private int wanted;

  private boolean ended;

  /** Whether the ring has requests that the device may not see yet. */
  private boolean unpublished;

  /** The list that contains this, and its neighbors there: owned by the list. */
  ShareList list;

  ReceiveShare previous;
  ReceiveShare next;

  @SuppressWarnings("unused") // through DUE
  private int due;

  /** Guarded by the lock of the completion queue whose list contains this. */
  private Due nextDue;

  ReceiveShare(SoftwareSrq queue, SharingQueuePair qp, DealtRing ring) {
    this.queue = queue;
    this.qp = qp;
    this.ring = ring;
    this.dealt = new int[ring.slots()];
  }

  @Override
  public SoftwareSrq queue() {
    return queue;
  }

  SharingQueuePair queuePair() {
    return qp;
  }

  /** Number of requests that it holds, as reported to the shared queue. */
  int held() {
    return ring.head() - collected;
  }

  /** The device's position. */
  private int done() {
    int tail = ring.tail();
    int ahead = seen;
    return ahead - tail > 0 ? ahead : tail;
  }

  /** Number of requests available to the device. */
  int ready() {
    return ring.head() - done();
  }

  /** Whether its queue pair receives, and its ring has room. */
  boolean takesRequests() {
    QpState state = qp.state();
    return state != QpState.RESET && state != QpState.ERR && ring.hasRoom();
  }

  /**
   * Target number of requests available to the device: twice its consumption in a period, because
   * it may speed up, but half of the waiting requests stay for others.
   *
   * @param waiting number of waiting requests
   */
  int target(int waiting) {
    return Math.max(floor(), Math.min(wanted, waiting / 2));
  }

  /** The number of requests that it holds while idle. */
  private int floor() {
    if (qp.type() == QpType.RC) {
      return REPEATED;
    }
    return queue.isShared() ? UNREPEATED : UNREPEATED_ALONE;
  }

  /** Measures how fast the device consumes requests. */
  void measure() {
    int done = done();
    pace += done - measured;
    measured = done;
    wanted = Math.max(wanted, 2 * pace);
  }

  /** A period has ended. */
  void endPeriod() {
    measure();
    wanted = 2 * pace;
    pace = 0;
  }

  /** Puts a request into the ring, which has room; whether it is the first to be published. */
  boolean deal(int number, ReceiveRequest request) {
    dealt[ring.head() & dealt.length - 1] = number;
    if (!ring.post(request, 0)) {
      throw new IllegalStateException("a share of more requests than its ring has slots");
    }
    boolean first = !unpublished;
    unpublished = true;
    return first;
  }

  /** Makes the requests that were dealt visible to the device. */
  void publish() {
    unpublished = false;
    ring.publish();
  }

  /** Reports new completions to the shared queue. */
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
   * Returns uncompleted requests, and empties the ring. The device has finished with it; callers
   * hold the completion queue's lock too.
   */
  void reclaim(SharedRequests requests) {
    collect(requests);
    for (int at = ring.head() - 1; at - collected >= 0; at--) {
      requests.giveBack(dealt[at & dealt.length - 1]);
    }
    ring.reset();
    collected = ring.tail();
    seen = collected;
    measured = collected;
    pace = 0;
    wanted = 0;
    ended = false;
  }

  /** Whether its queue pair is in ERR and it holds nothing: true when that is new. */
  boolean ends() {
    boolean wasEnded = ended;
    ended = qp.state() == QpState.ERR && held() == 0;
    return ended && !wasEnded;
  }

  // ---- as the queue pair and its completion queue see it

  @Override
  public void join() {
    queue.join(this);
  }

  @Override
  public void leave() {
    queue.leave(this);
  }

  @Override
  public void stateChanged() {
    queue.stateChanged(this);
  }

  @Override
  public void reclaim(Consumer<Runnable> drop) {
    queue.reclaim(this, drop);
  }

  /**
   * The device has completed the requests before a position, polled or not. Under the completion
   * queue's lock.
   */
  public void note(int end) {
    seen = end;
  }

  /**
   * The device has flushed the request at a position, which completes next and is not reported to
   * the program: it returns to the shared queue. Under the completion queue's lock.
   */
  public void flush(int position) {
    int slot = position & dealt.length - 1;
    dealt[slot] = ~dealt[slot];
  }

  // ---- the list of a completion queue with polled receives

  /**
   * There is an event to report to the shared queue. Under the completion queue's lock.
   *
   * @param others the completion queue's list
   * @return the list with this one, unless another completion queue's list has it already
   */
  public Due due(Due others) {
    if (!DUE.compareAndSet(this, 0, 1)) {
      return others;
    }
    nextDue = others;
    return this;
  }

  @Override
  public Due serve() {
    return queue.serve(this);
  }

  /** The shared queue is about to process it; returns the rest of the list. */
  Due removeDue() {
    Due rest = nextDue;
    nextDue = null;
    DUE.setVolatile(this, 0);
    // A later completion is either seen now or makes this due again.
    VarHandle.fullFence();
    return rest;
  }
}

package org.hghca.driver;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.QueuePairContext;
import org.hghca.provider.SharedRequests;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.ReceiveRequest;

/**
 * What a queue pair holds of a shared receive queue: the requests that are in its ring, where the
 * card takes them, and those of them that completed and that the shared queue has not heard of.
 * Under the shared queue's lock, unless another one is named.
 */
final class ReceiveShare implements SharedReceiver, Due {
  private static final VarHandle DUE;

  static {
    try {
      DUE = MethodHandles.lookup().findVarHandle(ReceiveShare.class, "due", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What a queue pair of RC holds that receives nothing: its peer is told to wait. */
  private static final int REPEATED = 1;

  /** What one of UC or UD holds, whose peers repeat nothing that finds no receive. */
  private static final int UNREPEATED = 2;

  /** The same where nobody else wants requests. */
  private static final int UNREPEATED_ALONE = 16;

  private final SoftwareSrq queue;
  private final HghcaQueuePair qp;
  private final ReceiveRing ring;

  /**
   * The shared queue's numbers of the requests in the ring's slots, complemented when the card has
   * flushed them. Flushing is the completion queue's, like the ring's tail.
   */
  private final int[] dealt;

  /** The ring's tail when the shared queue last heard of it. */
  private int collected;

  /**
   * As far as the card is known to have come, polled or not; the ring's tail may be ahead of it.
   * Under the completion queue's lock, read under the shared queue's.
   */
  private volatile int seen;

  /** Of how much of what the card has taken the measure has been taken. */
  private int measured;

  /** How many the card has taken in this period. */
  private int pace;

  /** How many it is to find, by what it took lately. */
  private int wanted;

  private boolean ended;

  /** The list that this is in, and its neighbours there: the list's own. */
  ShareList list;

  ReceiveShare previous;
  ReceiveShare next;

  @SuppressWarnings("unused") // through DUE
  private int due;

  /** Belongs to the completion queue in whose list of due shares this is. */
  private Due nextDue;

  ReceiveShare(SoftwareSrq queue, HghcaQueuePair qp, ReceiveRing ring) {
    this.queue = queue;
    this.qp = qp;
    this.ring = ring;
    this.dealt = new int[ring.slots()];
  }

  @Override
  public SoftwareSrq queue() {
    return queue;
  }

  HghcaQueuePair queuePair() {
    return qp;
  }

  /** How many requests it holds, as far as the shared queue has heard. */
  int held() {
    return ring.head() - collected;
  }

  /** As far as the card has come. */
  private int done() {
    int tail = ring.tail();
    int ahead = seen;
    return ahead - tail > 0 ? ahead : tail;
  }

  /** How many requests the card has before it. */
  int ready() {
    return ring.head() - done();
  }

  /** Whether its ring has a free slot. */
  boolean hasRoom() {
    return ring.outstanding() < ring.depth();
  }

  /**
   * How many requests the card is to have before it: twice what it took in a period, since it may
   * go faster; but so that half of those that wait are left to others.
   *
   * @param waiting how many wait
   */
  int target(int waiting) {
    return Math.max(floor(), Math.min(wanted, waiting / 2));
  }

  /** What it is to hold although it receives nothing. */
  private int floor() {
    if (qp.type() == QpType.RC) {
      return REPEATED;
    }
    return queue.isShared() ? UNREPEATED : UNREPEATED_ALONE;
  }

  /** Measures how fast the card takes requests. */
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
    seen = 0;
    measured = 0;
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

  /** The card knows of no sharing. */
  @Override
  public void tell(QueuePairContext context) {}

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
  public boolean isResetByError() {
    return false;
  }

  @Override
  public void takeBack(HghcaCompletionQueue cq) {
    queue.takeBack(this, cq);
  }

  @Override
  public boolean expects(int wqe) {
    return ring.expects(wqe);
  }

  @Override
  public long take(int wqe) {
    return ring.take(wqe);
  }

  /** In order, as the ring is: the card has come beyond that slot. */
  @Override
  public void note(int wqe) {
    seen = ring.behind(wqe);
  }

  @Override
  public boolean keepsFlushed() {
    return true;
  }

  @Override
  public void keep(int wqe) {
    int slot = ring.tail() & dealt.length - 1;
    dealt[slot] = ~dealt[slot];
    long _ = ring.takeOldest();
  }

  // ---- the list of a completion queue whose polling found something of it

  /**
   * Something has happened that the shared queue must hear of.
   *
   * @param others the completion queue's list
   * @return the list with this one, unless another completion queue's list has it already
   */
  @Override
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

  /** The shared queue is about to look; returns the rest of the list. */
  Due removeDue() {
    Due rest = nextDue;
    nextDue = null;
    DUE.setVolatile(this, 0);
    // What completes from here on either is seen now or makes this due again.
    VarHandle.fullFence();
    return rest;
  }
}

package org.hghca.jgroups;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.cm.RdmaConnection;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.jgroups.stack.IpAddress;

/**
 * A connection to a member. A bundle is copied once, into registered memory, and sent from there;
 * what arrives is read where the card has put it.
 *
 * <p>A frame is sent only when the peer has a receive for it: each end begins with as many credits
 * as the other has posted receives, and gets them back with the frames of the other, or, once half
 * of them are due, with a frame of their own. Such frames take receives that the credits do not
 * count: a peer has at most two of them under way.
 *
 * <p>Any thread sends, one at a time; the poller's thread receives.
 */
final class Link {
  /** Room in the ring, and requests, that are left to frames with credits alone. */
  private static final int SPARE = 4;

  /** Set in the {@code wr_id} of a receive, below the number of the link. */
  private static final long RECEIVE = 1L << 31;

  /** What becomes of a link that ends by itself. */
  interface Owner {
    /** A bundle, valid during the call. */
    void received(IpAddress from, SegmentInput bundle, int length) throws Exception;

    /** It has failed, or the peer has left; on the poller's thread, so it must not wait. */
    void ended(Link link, String why);
  }

  private final IpAddress peer;
  private final int number;
  private final Settings settings;
  private final Owner owner;
  private final MemoryRegion memory;
  private final MemorySegment bytes;

  /** Held for a whole bundle, so that no other comes between its frames. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Guards what follows, and is held briefly. */
  private final ReentrantLock state = new ReentrantLock();

  private final Condition progress = state.newCondition();
  private final SendRing ring;
  private final SendRequest request = new SendRequest(1);
  private QueuePair queuePair;

  /** Null while it is being made. */
  private RdmaConnection connection;

  private int frameBytes;
  private int credits;
  private int mostCredits;
  private int due;

  /** Nothing has moved for as long as a sender waits: no other waits, until something does. */
  private boolean stalled;

  private boolean closed;

  // Of the poller's thread.
  private final ReceiveRequest receive = new ReceiveRequest(1);
  private final SegmentInput input = new SegmentInput();
  private byte[] assembly = {};
  private int assembled;

  /**
   * A link that has no connection yet.
   *
   * @param number in the poller
   */
  Link(IpAddress peer, int number, ProtectionDomain domain, Settings settings, Owner owner) {
    this.peer = peer;
    this.number = number;
    this.settings = settings;
    this.owner = owner;
    this.ring = new SendRing(settings.sendBytes(), settings.sendDepth());
    long receives = (long) settings.receiveDepth() * settings.bufferSize();
    this.memory = domain.allocate(settings.sendBytes() + receives, AccessFlag.LOCAL_WRITE);
    this.bytes = memory.segment();
  }

  IpAddress peer() {
    return peer;
  }

  int number() {
    return number;
  }

  /** Posts the receives of a connection that is being made, before the peer can send. */
  void prepare(RdmaConnection made) {
    state.lock();
    try {
      queuePair = made.queuePair();
      for (int buffer = 0; buffer < settings.receiveDepth(); buffer++) {
        post(buffer);
      }
    } finally {
      state.unlock();
    }
  }

  /** The connection is made: it ends with the link, and the link with it. */
  void connected(RdmaConnection made) {
    state.lock();
    try {
      connection = made;
    } finally {
      state.unlock();
    }
    var _ = made.closed().thenRun(() -> end("the peer has left"));
  }

  /** Sends from now on: the peer has said what it takes. */
  void begin(Greeting greeting) {
    state.lock();
    try {
      frameBytes = Math.min(greeting.bufferSize(), settings.bufferSize()) - Frame.HEADER;
      mostCredits = greeting.buffers();
      credits += greeting.buffers();
      if (isExcess()) {
        shut();
      }
    } finally {
      state.unlock();
    }
  }

  // Sending.

  /**
   * Sends a bundle, or drops it because the peer is slow.
   *
   * @return whether it is sent
   */
  boolean send(byte[] data, int offset, int length) throws InterruptedException {
    writing.lock();
    try {
      int sent = 0;
      do {
        int part = Math.min(length - sent, frameBytes);
        int kind = sent == 0 ? Frame.FIRST : Frame.NEXT;
        if (!write(kind, length - sent, data, offset + sent, part)) {
          return false;
        }
        sent += part;
      } while (sent < length);
      return true;
    } finally {
      writing.unlock();
    }
  }

  private boolean write(int kind, int left, byte[] data, int from, int length)
      throws InterruptedException {
    state.lock();
    try {
      if (!awaitRoom(Frame.HEADER + length)) {
        return false;
      }
      credits--;
      int at = ring.take(Frame.HEADER + length);
      MemorySegment.copy(data, from, bytes, ValueLayout.JAVA_BYTE, at + Frame.HEADER, length);
      post(at, kind, left, Frame.HEADER + length, false);
      return true;
    } finally {
      state.unlock();
    }
  }

  private boolean awaitRoom(int length) throws InterruptedException {
    long left = settings.sendTimeout().toNanos();
    while (!closed && (credits == 0 || !ring.fits(length, SPARE))) {
      if (stalled || left <= 0) {
        stalled = true;
        return false;
      }
      left = progress.awaitNanos(left);
    }
    return !closed;
  }

  /** Posts a frame whose payload is in its place, with the credits that are due. */
  private void post(int at, int kind, int left, int length, boolean signaled) {
    Frame.write(bytes, at, kind, due, left);
    due = 0;
    request.wrId((long) number << Integer.SIZE | ring.number() & RECEIVE - 1);
    request.send().sge(memory, at, length);
    if (ring.signals(signaled)) {
      request.signaled();
    }
    queuePair.postSend(request);
  }

  /** Gives credits back once half of them are due, or sends them to learn that all is sent. */
  private void sendCredits(boolean always) {
    if ((always || due >= settings.buffers() / 2) && ring.fits(Frame.HEADER, 1)) {
      post(ring.take(Frame.HEADER), Frame.CREDITS, 0, Frame.HEADER, always);
    }
  }

  // Completions, on the poller's thread.

  /** A request is complete. */
  void completed(long wrId, long length) {
    if ((wrId & RECEIVE) == 0) {
      sent((int) (wrId & RECEIVE - 1));
    } else {
      received((int) (wrId & RECEIVE - 1), (int) length);
    }
  }

  private void sent(int frame) {
    state.lock();
    try {
      ring.complete(frame);
      moved();
      sendCredits(false);
    } finally {
      state.unlock();
    }
  }

  private void moved() {
    stalled = false;
    progress.signalAll();
  }

  private void received(int buffer, int length) {
    long at = settings.sendBytes() + (long) buffer * settings.bufferSize();
    if (length < Frame.HEADER) {
      end("it sent a frame of %d bytes".formatted(length));
      return;
    }
    int kind = Frame.kind(bytes, at);
    int given = Frame.credits(bytes, at);
    try {
      if (kind != Frame.CREDITS) {
        take(kind, Frame.left(bytes, at), at + Frame.HEADER, length - Frame.HEADER);
      }
    } catch (Exception e) {
      end("what it sent cannot be read: " + e);
      return;
    }
    returned(buffer, kind != Frame.CREDITS, given);
  }

  /** The buffer is free again, and the peer's credits are ours. */
  private void returned(int buffer, boolean counts, int given) {
    boolean excess = false;
    state.lock();
    try {
      if (closed) {
        return;
      }
      post(buffer);
      due += counts ? 1 : 0;
      credits += given;
      excess = isExcess();
      if (given > 0) {
        moved();
      }
      sendCredits(false);
    } finally {
      state.unlock();
    }
    if (excess) {
      end("it gave more credits than it has buffers");
    }
  }

  /** Whether the peer has given more credits than it has said that it has buffers. */
  private boolean isExcess() {
    return mostCredits > 0 && credits > mostCredits;
  }

  private void post(int buffer) {
    long at = settings.sendBytes() + (long) buffer * settings.bufferSize();
    receive.wrId((long) number << Integer.SIZE | RECEIVE | buffer);
    queuePair.postReceive(receive.into(memory, at, settings.bufferSize()));
  }

  /** Passes a bundle on, or a part of it to the others. */
  private void take(int kind, int left, long at, int length) throws Exception {
    if (kind == Frame.FIRST) {
      assembly = new byte[0];
      if (left == length) {
        owner.received(peer, input.of(bytes, at, length), length);
        return;
      }
      if (left < length || left > settings.maxLength()) {
        throw new IllegalArgumentException(
            "a bundle of %d bytes: RDMA.max_length is %d".formatted(left, settings.maxLength()));
      }
      assembly = new byte[left];
      assembled = 0;
    } else if (kind != Frame.NEXT || left != assembly.length - assembled || length > left) {
      throw new IllegalArgumentException("a frame of kind %d that nobody awaits".formatted(kind));
    }
    MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, assembly, assembled, length);
    assembled += length;
    if (assembled == assembly.length) {
      byte[] bundle = assembly;
      assembly = new byte[0];
      owner.received(
          peer, input.of(MemorySegment.ofArray(bundle), 0, bundle.length), bundle.length);
    }
  }

  // The end.

  /**
   * Ends it: nothing is sent or received any more. Reports once; while the connection is being
   * made, not at all: whoever makes it finds out.
   */
  void end(String why) {
    boolean reports;
    state.lock();
    try {
      reports = !closed && connection != null;
      shut();
    } finally {
      state.unlock();
    }
    if (reports) {
      owner.ended(this, why);
    }
  }

  private void shut() {
    closed = true;
    progress.signalAll();
  }

  boolean isClosed() {
    state.lock();
    try {
      return closed;
    } finally {
      state.unlock();
    }
  }

  /** Waits until all that was written is sent, up to a time limit. */
  void drain(Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    state.lock();
    try {
      boolean asked = false;
      while (!closed && !ring.isEmpty() && left > 0) {
        if (!asked && ring.fits(Frame.HEADER, 1)) {
          sendCredits(true);
          asked = true;
        }
        left = progress.awaitNanos(left);
      }
    } finally {
      state.unlock();
    }
  }

  /** Disconnects; its memory stays until {@link #free}. */
  void close() {
    RdmaConnection made;
    state.lock();
    try {
      shut();
      made = connection;
    } finally {
      state.unlock();
    }
    if (made != null) {
      made.close();
    }
  }

  /** Frees the memory, once no completion can name this link. */
  void free() {
    state.lock();
    try {
      memory.close();
    } finally {
      state.unlock();
    }
  }

  String describe() {
    state.lock();
    try {
      return "%s: %d credits%s".formatted(peer, credits, stalled ? ", stalled" : "");
    } finally {
      state.unlock();
    }
  }

  @Override
  public String toString() {
    return "link to " + peer;
  }
}

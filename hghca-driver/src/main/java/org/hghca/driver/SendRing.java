package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * A send queue in memory that the card reads: slots of one stride, each a work queue element of
 * units of 16 bytes (section 3.4). Posters write at the head under the ring's lock; completions
 * free slots in order at the tail under the completion queue's lock.
 *
 * <p>A list is chained before its one doorbell: each element's next unit tells address, size and
 * opcode of its successor. An element that a doorbell has covered is never touched again before its
 * slot is free.
 */
final class SendRing {
  private static final int UNIT_SHIFT = 4;
  private static final VarHandle TAIL;

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(SendRing.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final SpinLock lock;
  private final Supplier<BadRequestException> refusal;
  private final MemorySegment ring;
  private final UarPage uar;
  private final int qpn;
  private final int depth;
  private final int strideLog;
  private final int variant;
  private final SendWriter writer;

  /** These are null for a card that reports bad requests and takes any number of doorbells. */
  private final SendChecks checks;

  private final DoorbellScheduler scheduler;

  /** As long as the ring: an index cut to its length needs no check. */
  private final long[] wrIds;

  /** How many requests may be outstanding: the depth, or 0 while the ring is closed. */
  private int limit;

  /** Requests posted since the ring began, or was reset. Only its low half is a position. */
  private long head;

  private int tail;
  private long postedBeforeReset;

  /** Requests that stood behind others and needed no doorbell. */
  private long chained;

  /** What takes requests in ERR; null on a card that flushes them itself. */
  private SoftwareFlush flush;

  /** Where an element of our own stands; below 0 when there is none. */
  private volatile int flushOffset = -1;

  /**
   * A ring over zeroed memory.
   *
   * @param checks null for a card that reports bad requests
   * @param inFlight null likewise
   * @param slots a power of two, at least depth
   * @param lock null when one thread does all posting
   * @param refusal what posting to a ring that is not open throws
   */
  SendRing(
      QpType type,
      HardwareProfile profile,
      SendWriter writer,
      SendChecks checks,
      InFlightLimits inFlight,
      MemorySegment ring,
      UarPage uar,
      int qpn,
      int depth,
      int slots,
      int strideLog,
      SpinLock lock,
      Supplier<BadRequestException> refusal) {
    this.variant = SendOpcodeTable.variant(type, profile);
    this.writer = writer;
    this.checks = checks;
    this.scheduler =
        inFlight == null
            ? null
            : new DoorbellScheduler(inFlight, this, ring, uar, qpn, slots, strideLog);
    this.lock = lock;
    this.refusal = refusal;
    this.ring = ring;
    this.uar = uar;
    this.qpn = qpn;
    this.depth = depth;
    this.strideLog = strideLog;
    this.wrIds = new long[slots];
  }

  /** Posts one request and rings the doorbell; false when the ring is full. */
  boolean post(SendRequest request) {
    int operation = SendOpcodeTable.of(variant, ProviderAccess.get().opcode(request));
    if ((operation & SendOpcodeTable.CHECKED) != 0) {
      return postChecked(request, operation);
    }
    lock();
    try {
      long at = head;
      if (room((int) at) <= 0) {
        return false;
      }
      int slot = (int) at & wrIds.length - 1;
      long offset = (long) slot << strideLog;
      int size = writer.write(request, operation, 0, offset);
      wrIds[slot] = request.wrId();
      head = at + 1;
      uar.ringSendQueue(doorbell(request, operation, size, offset));
      return true;
    } finally {
      unlock();
    }
  }

  /**
   * Posts requests in order, chained, as far as there is room; returns how many. A fenced request
   * has a doorbell of its own: the second revision of the card takes the fence bit of a next unit
   * for the element's own, the others for its successor's.
   */
  int post(SendRequest[] requests, int from, int count) {
    if (scheduler != null) {
      return postChecked(requests, from, count);
    }
    lock();
    int posted = 0;
    int chains = 0;
    long doorbell = 0;
    long previous = -1;
    long first = head;
    try {
      int wanted = Math.min(room((int) first), count);
      while (posted < wanted) {
        SendRequest request = requests[from + posted];
        int slot = (int) first + posted & wrIds.length - 1;
        int operation = SendOpcodeTable.of(variant, ProviderAccess.get().opcode(request));
        long offset = (long) slot << strideLog;
        int size = writer.write(request, operation, posted, offset);
        int opcode = SendOpcodeTable.opcode(operation);
        boolean fenced = request.isFenced();
        if (previous >= 0 && !fenced) {
          NextUnit.link(ring, previous, (int) (offset >>> UNIT_SHIFT), opcode, size, 0);
        } else {
          if (previous >= 0) {
            head = first + posted;
            uar.ringSendQueue(doorbell);
          }
          chains++;
          doorbell = doorbell(request, operation, size, offset);
        }
        wrIds[slot] = request.wrId();
        posted++;
        previous = offset;
        if (fenced) {
          head = first + posted;
          uar.ringSendQueue(doorbell);
          previous = -1;
        }
      }
      return posted;
    } finally {
      // Before the doorbell: what it covers may complete at once.
      head = first + posted;
      if (previous >= 0) {
        uar.ringSendQueue(doorbell);
      }
      chained += posted - chains;
      unlock();
    }
  }

  private boolean postChecked(SendRequest request, int operation) {
    lock();
    try {
      boolean posted = hold(request, operation, 0);
      scheduler.ring();
      return posted;
    } finally {
      unlock();
    }
  }

  private int postChecked(SendRequest[] requests, int from, int count) {
    lock();
    int posted = 0;
    try {
      while (posted < count) {
        SendRequest request = requests[from + posted];
        if (!hold(
            request, SendOpcodeTable.of(variant, ProviderAccess.get().opcode(request)), posted)) {
          break;
        }
        posted++;
      }
      return posted;
    } finally {
      scheduler.ring();
      unlock();
    }
  }

  /** Checks and writes a request, and rings no doorbell; false when there is no room. */
  private boolean hold(SendRequest request, int operation, int index) {
    int at = (int) head;
    if (room(at) <= 0) {
      return limit == 0 && postInError(request, operation, index);
    }
    int slot = at & wrIds.length - 1;
    long bytes = checks.check(request, operation, index);
    writer.write(request, operation, index, (long) slot << strideLog);
    wrIds[slot] = request.wrId();
    head++;
    scheduler.add(at, SendOpcodeTable.opcode(operation), bytes, request.isFenced());
    return true;
  }

  /** Takes a request that the card is not to hear of. */
  private boolean postInError(SendRequest request, int operation, int index) {
    checks.check(request, operation, index);
    return flush.post(request);
  }

  /** Has requests that are posted in ERR taken elsewhere. Before the first is posted. */
  void flushedBy(SoftwareFlush flush) {
    this.flush = flush;
  }

  /** Rings for requests that were held back, when it is the turn of this ring. */
  void ringInTurn() {
    lock();
    try {
      scheduler.ringInTurn();
    } finally {
      unlock();
    }
  }

  /** Rings for requests that were held back, as far as it may be now. */
  void ringHeld() {
    if (scheduler.holds()) {
      lock();
      try {
        scheduler.ring();
      } finally {
        unlock();
      }
    }
  }

  /** Whether requests are held back; a glance without the lock. */
  boolean holds() {
    return scheduler.holds();
  }

  /** Requests go in packets of so many bytes, a power of two by its logarithm. */
  void path(int packetLog) {
    lock();
    try {
      scheduler.path(packetLog);
    } finally {
      unlock();
    }
  }

  /** Rings no more until the next reset: what is held back the card never sees. */
  void stopRinging() {
    lock();
    try {
      scheduler.stop();
    } finally {
      unlock();
    }
  }

  /** How many outstanding requests the card has heard of; only where doorbells are counted. */
  int rung() {
    lock();
    try {
      return scheduler.rungBehind((int) TAIL.getAcquire(this));
    } finally {
      unlock();
    }
  }

  /** How many packets all requests make that the card has heard of since the ring began. */
  long packets() {
    lock();
    try {
      return scheduler.packets();
    } finally {
      unlock();
    }
  }

  /** Whether the card has heard of a request since the ring began, or was reset. */
  boolean hasRung() {
    lock();
    try {
      return scheduler.from() != 0;
    } finally {
      unlock();
    }
  }

  /** Whether the card never hears of the oldest outstanding request. */
  boolean isOldestUnrung() {
    return scheduler != null && scheduler.isNeverRung(tail) && outstanding() > 0;
  }

  /**
   * When the card heard of an outstanding request, in ticks of {@link InFlightLimits}.
   *
   * @param behind how many older ones there are
   */
  int tick(int behind) {
    return scheduler.tick(tail + behind);
  }

  /** How many pieces of READs were complete so far, beside the last ones. */
  int pieces() {
    return scheduler.pieces();
  }

  /**
   * Takes the completion of a piece of a READ that goes on, as another doorbell may tell. Under the
   * completion queue's lock.
   *
   * @param offset of the element that it is of
   * @return false when it is of something else
   */
  boolean completePiece(int offset) {
    int at = tail + ((offset >>> strideLog) - tail & wrIds.length - 1);
    if (!scheduler.isPiece(at)) {
      return false;
    }
    lock();
    try {
      scheduler.completePiece(at);
      return true;
    } finally {
      unlock();
    }
  }

  /** Whether the oldest outstanding request is a READ that goes on when it is next completed. */
  boolean isOldestInPieces() {
    return scheduler != null && scheduler.isPiece(tail);
  }

  /** How many requests are complete. Under the completion queue's lock. */
  int tail() {
    return tail;
  }

  /**
   * Whether an outstanding request uses up a receive of the peer.
   *
   * @param behind how many older ones there are
   */
  boolean needsReceive(int behind) {
    long offset = (long) (tail + behind & wrIds.length - 1) << strideLog;
    return switch (NextUnit.opcode(ring, offset)) {
      case WqeOpcode.SEND, WqeOpcode.SEND_IMM, WqeOpcode.RDMA_WRITE_IMM -> true;
      default -> false;
    };
  }

  /**
   * Rings for an element of our own behind all others, upon which a card in ERR flushes what it has
   * not completed. It stands in the one slot that requests leave free.
   *
   * @return false when no doorbell may be rung now
   */
  boolean ringFlush() {
    lock();
    try {
      int slot = (int) head & wrIds.length - 1;
      int offset = slot << strideLog;
      flushOffset = scheduler.ringOwn(offset, writer.writeFlush(offset)) ? offset : -1;
      return flushOffset >= 0;
    } finally {
      unlock();
    }
  }

  /** Whether the card has not completed our own element. */
  boolean awaitsFlush() {
    return flushOffset >= 0;
  }

  /** Whether the element at an offset is our own. */
  boolean isFlush(int offset) {
    return offset >= 0 && offset == flushOffset;
  }

  /**
   * Takes the completion of our own element. Under the completion queue's lock.
   *
   * @return false when the element at this offset is not ours
   */
  boolean takeFlush(int offset) {
    boolean ours = isFlush(offset);
    if (ours) {
      flushOffset = -1;
      scheduler.completeOwn();
    }
    return ours;
  }

  /**
   * Opens the ring for requests, or closes it, between two of them.
   *
   * @param open asked under the ring's lock, so that of several callers the last one's answer is
   *     also the newest
   */
  synchronized void setOpen(BooleanSupplier open) {
    lock();
    try {
      limit = open.getAsBoolean() ? depth : 0;
      if (scheduler != null && limit != 0) {
        scheduler.open();
      }
      if (limit == 0 && takesInError()) {
        scheduler.stop();
      }
    } finally {
      unlock();
    }
  }

  private void lock() {
    if (lock != null) {
      lock.lock();
    }
  }

  private void unlock() {
    if (lock != null) {
      lock.unlock();
    }
  }

  /** How many more requests fit with the head where it is; at most 0 when the ring is full. */
  private int room(int at) {
    int room = limit - (at - (int) TAIL.getAcquire(this));
    if (room <= 0 && limit == 0 && !takesInError()) {
      throw refusal.get();
    }
    return room;
  }

  private boolean takesInError() {
    return flush != null && flush.takesSends();
  }

  private long doorbell(SendRequest request, int operation, int size, long offset) {
    return Doorbell.sendQueue(
        qpn,
        size,
        (int) (offset >>> UNIT_SHIFT),
        request.isFenced() ? 1 : 0,
        SendOpcodeTable.opcode(operation));
  }

  /** How many requests are outstanding. */
  int outstanding() {
    return (int) head - (int) TAIL.getAcquire(this);
  }

  /** How many requests were posted so far. */
  long posted() {
    return postedBeforeReset + head;
  }

  /** How many doorbells were rung so far. */
  long doorbells() {
    return scheduler == null ? posted() - chained : scheduler.rung();
  }

  /** Whether the oldest outstanding request stands at an offset of the ring. */
  boolean isOldest(int offset) {
    return outstanding() > 0 && offset == (tail & wrIds.length - 1) << strideLog;
  }

  /** Whether the oldest outstanding request gives a completion when it succeeds. */
  boolean isOldestSignaled() {
    long offset = (long) (tail & wrIds.length - 1) << strideLog;
    return (NextUnit.flags(ring, offset) & NextUnit.COMPLETION) != 0;
  }

  /**
   * The oldest outstanding request is complete: frees its slot and fills a completion unless it
   * succeeded unsignalled. Called under the completion queue's lock.
   *
   * @return 1 when a completion was filled, else 0
   */
  int complete(Completions out, int index, int status, int vendorError, int bytes) {
    int slot = tail & wrIds.length - 1;
    long wrId = wrIds[slot];
    long offset = (long) slot << strideLog;
    int flags = NextUnit.flags(ring, offset);
    int opcode = NextUnit.opcode(ring, offset);
    int moved = bytes;
    if (scheduler != null) {
      moved = scheduler.moved(tail, bytes);
      scheduler.complete(tail);
    }
    TAIL.setRelease(this, tail + 1);
    if (status == 0 && (flags & NextUnit.COMPLETION) == 0) {
      return 0;
    }
    ProviderAccess.get()
        .fill(
            out,
            index,
            wrId,
            status,
            SendOpcodeTable.completion(opcode),
            0,
            vendorError,
            moved,
            qpn,
            0,
            0);
    return 1;
  }

  /**
   * A completion stands in its queue that nobody has polled yet. Called under the completion
   * queue's lock, only where doorbells are counted.
   *
   * @param offset of the request that it is of, or of anything else
   * @return whether that is new
   */
  boolean completeUnpolled(int offset) {
    int ahead = (offset >>> strideLog) - tail & wrIds.length - 1;
    return ahead < outstanding() && scheduler.completeUnpolled(tail + ahead);
  }

  /** Forgets everything. The ring is not open; callers hold the completion queue's lock. */
  void reset() {
    lock(); // half of it would look like room
    try {
      if (scheduler != null) {
        scheduler.reset();
      }
      postedBeforeReset += head;
      head = 0;
      if (flushOffset >= 0) {
        flushOffset = -1;
        scheduler.completeOwn();
      }
      TAIL.setRelease(this, 0);
    } finally {
      unlock();
    }
  }

  /** Whether a request that is not complete names memory by its key. */
  boolean names(int key) {
    lock();
    try {
      for (int at = (int) TAIL.getAcquire(this); at != (int) head; at++) {
        if (names(at, key)) {
          return true;
        }
      }
      return false;
    } finally {
      unlock();
    }
  }

  private boolean names(int at, int key) {
    MemorySegment whole = scheduler == null ? null : scheduler.whole(at);
    return whole == null
        ? writer.names(ring, (long) (at & wrIds.length - 1) << strideLog, key)
        : writer.names(whole, 0, key);
  }
}

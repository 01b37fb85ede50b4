package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.vfio.direct.GuardedRegister;
import org.hghca.vfio.direct.RingMemory;

/**
 * A send queue in memory that the card reads: slots of one stride, each a work queue element of
 * units of 16 bytes (section 3.4). Posters write at the head under the ring's lock; completions
 * free slots in order at the tail under the completion queue's lock.
 *
 * <p>A list is chained before its one doorbell: each element's next unit gives address, size and
 * opcode of its successor. An element that a doorbell has covered is not modified before its slot
 * is free.
 */
public class SendRing extends RingTail {
  private static final int UNIT_SHIFT = 4;
  private static final long NONE = -1;

  /** The limit of a closed ring: below 0 even if more completions than requests were counted. */
  private static final int CLOSED = Integer.MIN_VALUE / 2;

  private final SpinLock lock;
  private final Supplier<BadRequestException> refusal;

  /** The slots, checked at each access: for what is not posting. */
  protected final MemorySegment ring;

  private final RingMemory memory;
  private final UarPage uar;

  /** Where posting stores doorbells by address; 0 if it does not. */
  private final long register;

  private final int qpn;
  private final int depth;
  private final int strideLog;
  private final int variant;
  private final int always;
  protected final SendWriter writer;

  /** As long as the ring: a masked index needs no bounds check. */
  private final long[] wrIds;

  /**
   * The kinds of the requests in the slots, as in {@link #operation}, so that polling reads no
   * element.
   */
  private final int[] operations;

  /**
   * Maximum number of outstanding requests: the depth, or 0 while requests are enqueued, or {@link
   * #CLOSED}, so that the check for space in posting covers all cases.
   */
  private int limit = CLOSED;

  private boolean open;

  /** The position of the last enqueued element, which was not rung yet; below 0 for none. */
  private long enqueued = NONE;

  /** The doorbell for the enqueued elements, which are chained. */
  private long enqueuedDoorbell;

  /** Requests posted since the ring was created or reset. Only the low half is a position. */
  private long head;

  /** The tail as posters saw it last: they leave its cache line to the poller. */
  private int freed;

  private long postedBeforeReset;

  /** Requests that were chained after others and needed no doorbell. */
  private long chained;

  // Here, on lines that the poller leaves alone.
  private long sentBytes;
  private long readBytes;

  /**
   * A ring over zeroed memory.
   *
   * @param lock null when one thread does all posting
   * @param refusal makes the exception for posting to a closed ring
   */
  public SendRing(
      RingShape shape,
      SendWriter writer,
      UarPage uar,
      SpinLock lock,
      Supplier<BadRequestException> refusal) {
    this.writer = writer;
    this.variant = writer.variant();
    this.always = writer.always();
    this.lock = lock;
    this.refusal = refusal;
    this.memory = shape.memory();
    this.ring = memory.memory();
    this.uar = uar;
    this.register = memory.isGuarded() ? uar.sendQueueAddress() : 0;
    this.qpn = shape.qpn();
    this.depth = shape.depth();
    this.strideLog = shape.strideLog();
    this.wrIds = new long[shape.slots()];
    this.operations = new int[shape.slots()];
  }

  // ---- posting

  /** Posts one request and rings the doorbell; false when the ring is full. */
  public boolean post(SendRequest request) {
    int operation = operation(request);
    lock();
    try {
      long at = head;
      if (room((int) at, 1) <= 0) {
        return false;
      }
      int slot = slot((int) at);
      long offset = (long) slot << strideLog;
      note(slot, request, operation);
      int size = writer.write(request, operation, 0, offset);
      count(request, operation);
      head++;
      ringDoorbell(doorbell(operation, size, offset));
      return true;
    } finally {
      unlock();
    }
  }

  /**
   * Posts requests in order, chained, as far as there is room; returns their number. A fenced
   * request has a doorbell of its own, whose fence bit is certainly its own: that of a next unit
   * can be read as the element's or as its successor's.
   */
  public int post(SendRequest[] requests, int from, int count) {
    lock();
    int posted = 0;
    int chains = 0;
    long doorbell = 0;
    long previous = -1;
    long first = head;
    try {
      int wanted = Math.min(room((int) first, Math.max(count, 1)), count);
      while (posted < wanted) {
        SendRequest request = requests[from + posted];
        int slot = slot((int) first + posted);
        int operation = operation(request);
        long offset = (long) slot << strideLog;
        note(slot, request, operation);
        int size = writer.write(request, operation, posted, offset);
        count(request, operation);
        int opcode = SendOpcodeTable.opcode(operation);
        boolean fenced = SendOpcodeTable.isFenced(operation);
        if (previous >= 0 && !fenced) {
          link(previous, offset, opcode, size);
        } else {
          if (previous >= 0) {
            head = first + posted;
            ringDoorbell(doorbell);
          }
          chains++;
          doorbell = doorbell(operation, size, offset);
        }
        posted++;
        previous = offset;
        if (fenced) {
          head = first + posted;
          ringDoorbell(doorbell);
          previous = -1;
        }
      }
      return posted;
    } finally {
      // Before the doorbell: covered requests may complete at once.
      head = first + posted;
      chained += posted - chains;
      try {
        if (previous >= 0) {
          ringDoorbell(doorbell);
        }
      } finally { // the doorbell faults when its card is gone
        unlock();
      }
    }
  }

  /**
   * Rings, under the lock, while the ring is open: the device is, and so is the register's memory,
   * which is not checked.
   */
  private void ringDoorbell(long doorbell) {
    if (register != 0) {
      GuardedRegister.writeLong(register, doorbell);
    } else {
      uar.ringSendQueue(doorbell);
    }
  }

  /**
   * Writes a request after those already enqueued, and rings only if the request needs its own
   * doorbell, or if the ring is full, so that slots become free.
   *
   * @return false when the ring is full
   */
  public boolean enqueue(SendRequest request) {
    int operation = operation(request);
    lock();
    try {
      int at = (int) head;
      if (!hasRoomBesideEnqueued(at)) {
        flushLocked();
        return false;
      }
      int slot = slot(at);
      long offset = (long) slot << strideLog;
      note(slot, request, operation);
      int size = writer.write(request, operation, 0, offset);
      count(request, operation);
      chain(operation, size, offset);
      return true;
    } finally {
      unlock();
    }
  }

  /** Keeps what its completion asks for. Before the element is written, which may be refused. */
  private void note(int slot, SendRequest request, int operation) {
    wrIds[slot] = request.wrId();
    operations[slot] = operation;
  }

  /** Counts the data of a request that was written. */
  private void count(SendRequest request, int operation) {
    long bytes = SendWriter.bytes(request);
    if (SendOpcodeTable.reads(operation)) {
      readBytes += bytes;
    } else {
      sentBytes += bytes;
    }
  }

  /** Appends a written element to the enqueued ones, and advances the head. */
  private void chain(int operation, int size, long offset) {
    boolean fenced = SendOpcodeTable.isFenced(operation);
    if (enqueued != NONE && !fenced) {
      int opcode = SendOpcodeTable.opcode(operation);
      link(enqueued, offset, opcode, size);
      chained++;
    } else {
      flushLocked();
      enqueuedDoorbell = doorbell(operation, size, offset);
    }
    head++;
    enqueued = offset;
    limit = 0;
    if (fenced) {
      flushLocked(); // as in a list: nothing is chained after it
    }
  }

  /** Chains a written element after another, without a fence, which no doorbell covers yet. */
  private void link(long previous, long offset, int opcode, int size) {
    NextUnit.chain(
        memory.segment(), memory.at(previous), (int) (offset >>> UNIT_SHIFT), opcode, size);
  }

  /** Rings for the enqueued requests. */
  public void flush() {
    lock();
    try {
      flushLocked();
    } finally {
      unlock();
    }
  }

  private void flushLocked() {
    if (enqueued != NONE) {
      enqueued = NONE;
      limit = open ? depth : CLOSED;
      uar.ringSendQueue(enqueuedDoorbell); // which is checked, because the ring may be closed
    }
  }

  /**
   * Number of further requests that fit; at most 0 when the ring is full.
   *
   * @param wanted 1 or more: where there is less room, it looks how many slots are free by now
   */
  private int room(int at, int wanted) {
    assert at - freed >= 0 && at - freed <= depth : "what was freed is " + freed;
    int room = limit - (at - freed);
    return room >= wanted ? room : moreRoom(at);
  }

  /** Rings for the enqueued requests, which may be why there is no room: order is kept. */
  private int moreRoom(int at) {
    checkOpen();
    flushLocked();
    freed = tail();
    return limit - (at - freed);
  }

  private boolean hasRoomBesideEnqueued(int at) {
    checkOpen();
    if (at - freed >= depth) {
      freed = tail();
    }
    return at - freed < depth;
  }

  private long doorbell(int operation, int size, long offset) {
    return Doorbell.sendQueue(
        qpn,
        size,
        (int) (offset >>> UNIT_SHIFT),
        SendOpcodeTable.fence(operation),
        SendOpcodeTable.opcode(operation));
  }

  // ---- under the ring's lock

  protected final void lock() {
    if (lock != null) {
      lock.lock();
    }
  }

  protected final void unlock() {
    if (lock != null) {
      lock.unlock();
    }
  }

  /** The operation of a request on this ring, as in {@link SendOpcodeTable}. */
  protected final int operation(SendRequest request) {
    return SendOpcodeTable.of(variant, ProviderAccess.get().kind(request)) | always;
  }

  /** The position after the last request. */
  @Override
  protected final int head() {
    return (int) head;
  }

  /**
   * Checks that requests are accepted, even if only to be flushed.
   *
   * @throws BadRequestException when they are not
   */
  protected void checkOpen() {
    if (!open) {
      throw refusal.get();
    }
  }

  // ---- state

  /**
   * Opens the ring for requests, or closes it, between two of them.
   *
   * @param whether evaluated under the ring's lock, so that the last of several callers sets the
   *     newest value
   */
  public final synchronized void setOpen(BooleanSupplier whether) {
    lock();
    try {
      boolean opens = whether.getAsBoolean();
      if (open != opens) { // else a single owner, who takes no lock, may be changing the limit
        open = opens;
        limit = opens ? openLimit() : CLOSED;
      }
      opened();
    } finally {
      unlock();
    }
  }

  private int openLimit() {
    return enqueued == NONE ? depth : 0;
  }

  /** Clears everything. The ring is closed; callers hold the completion queue's lock. */
  public final void reset() {
    lock(); // a partial update would look like free space
    try {
      forget();
      enqueued = NONE;
      postedBeforeReset += head;
      head = 0;
      freed = 0;
      resetTail();
    } finally {
      unlock();
    }
  }

  /** Number of outstanding requests. */
  public final int outstanding() {
    return (int) head - tail();
  }

  /** Ring positions and outstanding requests, for logs; read without the lock. */
  public String standing() {
    String waits = enqueued == NONE ? "" : ", some enqueued";
    return "%d of %d outstanding (head %d, tail %d%s)"
        .formatted(outstanding(), depth, head, tail(), waits);
  }

  /** Number of requests posted so far. */
  public final long posted() {
    return postedBeforeReset + head;
  }

  /** Number of doorbells rung so far. */
  public long doorbells() {
    return posted() - chained;
  }

  /** Bytes that the requests posted so far send or write. */
  public final long sentBytes() {
    return sentBytes;
  }

  /** Bytes that the requests posted so far ask the peer for. */
  public final long readBytes() {
    return readBytes;
  }

  // ---- completions, under the completion queue's lock

  /** Whether the oldest outstanding request is at an offset of the ring. */
  public final boolean isOldest(int offset) {
    return hasOutstanding() && offset == slot(ownTail()) << strideLog;
  }

  /** Whether polling does not report a success of the oldest outstanding request. */
  public boolean isOldestSilent() {
    return !SendOpcodeTable.isSignaled(operations[slot(ownTail())]);
  }

  private void fill(
      Completions out, int index, int slot, int operation, int status, int vendorError, int bytes) {
    int opcode = SendOpcodeTable.completion(operation);
    ProviderAccess access = ProviderAccess.get();
    access.fill(out, index, wrIds[slot], status, opcode, vendorError, qpn);
    access.fillMessage(out, index, bytes, 0, 0, 0);
  }

  /**
   * The oldest outstanding request is complete: frees its slot and fills a completion unless it is
   * an unsignaled success.
   *
   * @return 1 when a completion was filled, else 0
   */
  public int complete(Completions out, int index, int status, int vendorError, int bytes) {
    int slot = slot(ownTail());
    int operation = operations[slot];
    boolean told = status != 0 || SendOpcodeTable.isSignaled(operation);
    if (told) {
      fill(out, index, slot, operation, status, vendorError, bytes);
    }
    free(ownTail() + 1);
    return told ? 1 : 0;
  }

  protected final int slot(int at) {
    return at & wrIds.length - 1;
  }

  // ---- what only a subclass uses or changes, which rings later or checks requests

  protected final boolean isFull() {
    return room((int) head, 1) <= 0;
  }

  /**
   * Writes a request into the slot at the head and rings no doorbell. There is room.
   *
   * @return its size in units
   */
  protected final int write(SendRequest request, int operation, int index) {
    int slot = slot((int) head);
    note(slot, request, operation);
    int size = writer.write(request, operation, index, (long) slot << strideLog);
    count(request, operation);
    head++;
    return size;
  }

  protected final boolean isOpen() {
    return open;
  }

  /** The ring accepts requests from now on, or no longer. */
  protected void opened() {}

  /** The ring is about to be reset. */
  protected void forget() {}

  /** Whether the ring is open in ERR: the card flushes what is posted there. */
  public boolean opensInError() {
    return true;
  }

  /** The position, not far from the tail, that is at an offset of the ring. */
  protected final int position(int offset) {
    return ownTail() + slot((offset >>> strideLog) - ownTail());
  }

  protected final long offset(int at) {
    return (long) slot(at) << strideLog;
  }
}

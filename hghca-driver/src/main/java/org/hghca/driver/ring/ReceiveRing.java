package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.provider.srq.DealtRing;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.vfio.direct.RingMemory;

/**
 * A receive queue in memory that the card reads. It has no doorbell: the card reads the next slot
 * when a message arrives, and regards it as posted if its first unit is not all zero. So a slot is
 * filled in reverse order, its first unit last; its units end with an all-zero one inside the slot;
 * and the slot at the head is never one that looks posted, which costs one slot: its first unit is
 * zeroed before the slot in front of it is published. Other free slots may have old requests, which
 * the card does not reach. The document is silent about all of this: docs/hardware.md, "Receive
 * rules".
 *
 * <p>Posters write at the head under the queue pair's lock; completions free slots in order at the
 * tail under the completion queue's lock.
 */
public class ReceiveRing implements Receives, DealtRing {
  private static final int UNIT = 16;
  private static final VarHandle TAIL;

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(ReceiveRing.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The slots, checked at each access: for what is not posting. */
  protected final MemorySegment ring;

  private final RingMemory memory;
  protected final int qpn;
  private final int depth;
  private final int mask;
  private final int strideLog;
  private final int maxSge;

  private final long[] wrIds;
  private int head;
  private int tail;
  private long posted;
  private long receivedBytes;

  /**
   * A ring over zeroed memory.
   *
   * @param shape with more slots than the depth
   */
  public ReceiveRing(RingShape shape, int maxSge) {
    this.memory = shape.memory();
    this.ring = memory.memory();
    this.qpn = shape.qpn();
    this.depth = shape.depth();
    this.mask = shape.slots() - 1;
    this.strideLog = shape.strideLog();
    this.maxSge = maxSge;
    this.wrIds = new long[shape.slots()];
    shape.checkSlot((1 + Math.max(1, maxSge) + 1) * UNIT);
  }

  /**
   * Posts a request; false when the ring is full. Callers lock, and know that the ring is open.
   *
   * @param index its index in the caller's list
   */
  @Override
  public boolean post(ReceiveRequest request, int index) {
    int count = check(request, index);
    int at = head;
    if (at - (int) TAIL.getAcquire(this) >= depth) {
      return false;
    }
    put(at, request, count);
    return true;
  }

  /**
   * Posts requests of a list, as {@link #post(ReceiveRequest, int)} does each of them, into the
   * slots that are free at its beginning.
   *
   * @return their number, less than {@code count} when the ring is full
   */
  public int post(ReceiveRequest[] requests, int from, int count) {
    int first = head;
    int room = depth - (first - (int) TAIL.getAcquire(this));
    for (int i = 0; i < count; i++) {
      ReceiveRequest request = requests[from + i];
      int elements = check(request, i);
      if (i >= room) {
        return i;
      }
      put(first + i, request, elements);
    }
    return count;
  }

  /**
   * Writes a request into a slot that is free, and publishes it.
   *
   * @param count the number of its elements as it was checked, because another thread may change
   *     the request
   */
  private void put(int at, ReceiveRequest request, int count) {
    MemorySegment slots = memory.segment(); // here, so that the compiler sees a constant
    int slot = at & mask;
    long offset = memory.at((long) slot << strideLog);
    long first = offset + UNIT;
    long next = writeData(slots, request, count, first);
    DataUnit.writeTerminator(slots, next);
    NextUnit.clear(slots, memory.at((long) (at + 1 & mask) << strideLog));
    wrIds[slot] = request.wrId();
    head = at + 1;
    posted++;
    NextUnit.writeReceive(slots, offset, (int) (next + UNIT - offset) / UNIT);
  }

  /** As {@link #writeElements}, of the memory that the card is given for a request. */
  protected long writeData(MemorySegment slots, ReceiveRequest request, int count, long at) {
    return writeElements(slots, request, count, at);
  }

  /**
   * Writes data units, without empty ones, and returns their end.
   *
   * @param count the number of elements as it was checked, because another thread may change the
   *     request
   */
  public static long writeElements(MemorySegment ring, ReceiveRequest request, int count, long at) {
    if (count == 1) { // nearly always, and without the set-up of a loop
      return writeElement(ring, request, 0, at);
    }
    long next = at;
    for (int i = 0; i < count; i++) {
      next = writeElement(ring, request, i, next);
    }
    return next;
  }

  private static long writeElement(MemorySegment ring, ReceiveRequest request, int i, long at) {
    int length = request.sgeLength(i);
    if (length == 0) {
      return at;
    }
    DataUnit.write(ring, at, length, request.sgeLkey(i), request.sgeAddress(i));
    return at + UNIT;
  }

  /**
   * Checks that a slot can hold a request, and that the card can be given it.
   *
   * @return its number of elements
   * @throws BadRequestException EINVAL when it has too many elements, or cannot be given to the
   *     card
   */
  public int check(ReceiveRequest request, int index) {
    int count = request.sgeCount();
    if (count > maxSge) {
      throw tooManyElements(count, index);
    }
    return count;
  }

  private BadRequestException tooManyElements(int count, int index) {
    return new BadRequestException(
        Errno.EINVAL,
        index,
        "%d scatter/gather elements: QP 0x%06x takes %d".formatted(count, qpn, maxSge));
  }

  @Override
  public int slots() {
    return wrIds.length;
  }

  @Override
  public boolean hasRoom() {
    return outstanding() < depth;
  }

  /** The card looks for requests by itself. */
  @Override
  public void publish() {}

  /** The offset in the ring of the slot of a position. */
  protected final long offset(int at) {
    return (long) (at & mask) << strideLog;
  }

  /** The logarithm of a slot's bytes. */
  protected final int strideLog() {
    return strideLog;
  }

  /** Number of posted requests. Callers lock. */
  @Override
  public int head() {
    return head;
  }

  /** Number of completed requests. */
  @Override
  public int tail() {
    return (int) TAIL.getAcquire(this);
  }

  /** Number of outstanding requests. */
  public int outstanding() {
    return head - (int) TAIL.getAcquire(this);
  }

  /**
   * Number of completed requests once the one at an offset is complete. Not far from the oldest.
   */
  public int behind(int offset) {
    int at = tail();
    return at + ((offset >>> strideLog) - at & mask) + 1;
  }

  /** Ring positions and outstanding requests, for logs; read without the lock. */
  public String standing() {
    return "%d of %d outstanding (head %d, tail %d)".formatted(outstanding(), depth, head, tail());
  }

  /** Number of requests posted so far. */
  public long posted() {
    return posted;
  }

  @Override
  public boolean expects(int wqe) {
    return isOldest(wqe);
  }

  @Override
  public long take(int wqe, int bytes) {
    receivedBytes += bytes; // beside the tail, which this thread writes anyway
    return takeOldest();
  }

  @Override
  public long receivedBytes() {
    return receivedBytes;
  }

  /** Whether the oldest outstanding request is at an offset of the ring. */
  boolean isOldest(int offset) {
    return outstanding() > 0 && offset == (tail & mask) << strideLog;
  }

  /**
   * The oldest outstanding request is complete: frees its slot and returns its {@code wr_id}.
   * Called under the completion queue's lock.
   */
  public long takeOldest() {
    int slot = tail & mask;
    long wrId = wrIds[slot];
    TAIL.setRelease(this, tail + 1);
    return wrId;
  }

  /** Clears everything. Callers hold the queue pair's and the completion queue's lock. */
  @Override
  public void reset() {
    restart(0);
  }

  /** Clears everything; the card reads from a slot on. */
  protected final void restart(int slot) {
    ring.fill((byte) 0);
    head = slot;
    TAIL.setRelease(this, slot);
  }
}

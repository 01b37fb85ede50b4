package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

/**
 * A send queue in memory that the card reads: slots of one stride, each a work queue element of
 * units of 16 bytes (section 3.4). Posters write at the head under the queue pair's lock;
 * completions free slots in order at the tail under the completion queue's lock.
 *
 * <p>A list is chained before its one doorbell: each element's next unit tells address, size and
 * opcode of its successor. An element that a doorbell has covered is never touched again before its
 * slot is free.
 */
final class SendRing {
  private static final int UNIT = 16;
  private static final int SIGNALED = 1 << 8;
  private static final int OPCODE = 0xff;
  private static final long MAX_MESSAGE = 1L << 31;
  private static final VarHandle TAIL;

  private static final int HAS_REMOTE_ADDRESS = 1 << 8;
  private static final int HAS_IMMEDIATE = 1 << 9;
  private static final int SUPPORTED = 1 << 10;
  private static final int COMPLETION_SHIFT = 16;

  /**
   * What a verbs opcode means here: the card's opcode in the low byte, the flags above, and the
   * opcode of the completion. 0 for what is not supported.
   */
  private static final int[] MEANINGS = new int[WrOpcode.values().length];

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(SendRing.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    mean(WrOpcode.SEND, WqeOpcode.SEND);
    mean(WrOpcode.SEND_WITH_IMM, WqeOpcode.SEND_IMM | HAS_IMMEDIATE);
    mean(WrOpcode.RDMA_WRITE, WqeOpcode.RDMA_WRITE | HAS_REMOTE_ADDRESS);
    mean(
        WrOpcode.RDMA_WRITE_WITH_IMM,
        WqeOpcode.RDMA_WRITE_IMM | HAS_REMOTE_ADDRESS | HAS_IMMEDIATE);
    mean(WrOpcode.RDMA_READ, WqeOpcode.RDMA_READ | HAS_REMOTE_ADDRESS);
  }

  private static void mean(WrOpcode verb, int meaning) {
    MEANINGS[verb.ordinal()] = meaning | SUPPORTED | verb.completion().code() << COMPLETION_SHIFT;
  }

  private final MemorySegment ring;
  private final UarPage uar;
  private final int qpn;
  private final int depth;
  private final int mask;
  private final int strideLog;
  private final int maxSge;
  private final int maxInline;
  private final int always;
  private final long[] wrIds;

  /** Completion opcode, and SIGNALED. */
  private final int[] notes;

  private int head;
  private int tail;

  /**
   * A ring over zeroed memory.
   *
   * @param slots a power of two, at least depth
   * @param signalAll whether every request gives a completion
   */
  SendRing(
      MemorySegment ring,
      UarPage uar,
      int qpn,
      int depth,
      int slots,
      int strideLog,
      int maxSge,
      int maxInline,
      boolean signalAll) {
    this.ring = ring;
    this.uar = uar;
    this.qpn = qpn;
    this.depth = depth;
    this.mask = slots - 1;
    this.strideLog = strideLog;
    this.maxSge = maxSge;
    this.maxInline = maxInline;
    this.always = signalAll ? SIGNALED : 0;
    this.wrIds = new long[slots];
    this.notes = new int[slots];
  }

  /** Posts one request and rings the doorbell; false when the ring is full. Callers lock. */
  boolean post(SendRequest request) {
    int at = head;
    if (at - (int) TAIL.getAcquire(this) >= depth) {
      return false;
    }
    int slot = at & mask;
    int meaning = MEANINGS[request.opcode().ordinal()];
    int offset = slot << strideLog;
    int size = write(request, meaning, 0, offset);
    note(request, meaning, slot);
    head = at + 1;
    uar.ringSendQueue(
        Doorbell.sendQueue(qpn, size, offset / UNIT, request.isFenced() ? 1 : 0, meaning & OPCODE));
    return true;
  }

  /**
   * Posts requests in order, chained, as far as there is room; returns how many. A fenced request
   * has a doorbell of its own: the second revision of the card takes the fence bit of a next unit
   * for the element's own, the others for its successor's. Callers lock.
   */
  int post(SendRequest[] requests, int from, int count) {
    int room = depth - (head - (int) TAIL.getAcquire(this));
    int wanted = Math.min(room, count);
    int posted = 0;
    long bell = 0;
    int previous = -1;
    try {
      while (posted < wanted) {
        SendRequest request = requests[from + posted];
        int slot = head & mask;
        int meaning = MEANINGS[request.opcode().ordinal()];
        int offset = slot << strideLog;
        int size = write(request, meaning, posted, offset);
        int opcode = meaning & OPCODE;
        boolean fenced = request.isFenced();
        if (previous >= 0 && !fenced) {
          NextUnit.link(ring, previous, offset / UNIT, opcode, size, 0);
        } else {
          if (previous >= 0) {
            uar.ringSendQueue(bell);
          }
          bell = Doorbell.sendQueue(qpn, size, offset / UNIT, fenced ? 1 : 0, opcode);
        }
        note(request, meaning, slot);
        head++;
        posted++;
        previous = offset;
        if (fenced) {
          uar.ringSendQueue(bell);
          previous = -1;
        }
      }
    } finally {
      if (previous >= 0) {
        uar.ringSendQueue(bell);
      }
    }
    return posted;
  }

  private void note(SendRequest request, int meaning, int slot) {
    wrIds[slot] = request.wrId();
    notes[slot] = meaning >>> COMPLETION_SHIFT | (request.isSignaled() ? SIGNALED : always);
  }

  /** Writes an element, as the last of its chain; returns its size in units. */
  private int write(SendRequest request, int meaning, int index, int offset) {
    int at = offset + UNIT;
    if ((meaning & HAS_REMOTE_ADDRESS) != 0) {
      RemoteAddressUnit.write(ring, at, request.remoteAddress(), request.rkey());
      at += UNIT;
    } else if ((meaning & SUPPORTED) == 0) {
      throw unsupported(request.opcode(), index);
    }
    int end =
        request.isInline() ? writeInline(request, index, at) : writeElements(request, index, at);
    int size = (end - offset) / UNIT;
    NextUnit.write(
        ring,
        offset,
        NextUnit.address(0, 0),
        NextUnit.size(0, request.isFenced() ? 1 : 0),
        NextUnit.control(
            meaning & OPCODE,
            size,
            request.isSolicited() ? NextUnit.MARKER | NextUnit.SOLICITED : NextUnit.MARKER),
        (meaning & HAS_IMMEDIATE) != 0 ? request.immediate() : 0);
    return size;
  }

  /**
   * Writes data units and returns where they end; those of no bytes are left out, since they stop
   * the first revision of the card.
   */
  private int writeElements(SendRequest request, int index, int at) {
    int count = request.sgeCount();
    // The usual case without a loop, whose set-up would cost as much as the element itself.
    if (count == 1 && maxSge > 0) {
      int length = request.sgeLength(0);
      if (length == 0) {
        return at;
      }
      DataUnit.write(ring, at, length, request.sgeLkey(0), request.sgeAddress(0));
      return at + UNIT;
    }
    return writeList(request, count, index, at);
  }

  private int writeList(SendRequest request, int count, int index, int at) {
    if (count > maxSge) {
      throw tooManyElements(index, count);
    }
    int next = at;
    long total = 0;
    for (int i = 0; i < count; i++) {
      int length = request.sgeLength(i);
      if (length != 0) {
        DataUnit.write(ring, next, length, request.sgeLkey(i), request.sgeAddress(i));
        next += UNIT;
        total += length;
      }
    }
    if (total > MAX_MESSAGE) {
      throw tooLong(index, total);
    }
    return next;
  }

  /** An inline unit; none for no bytes. */
  private int writeInline(SendRequest request, int index, int at) {
    if (request.opcode() == WrOpcode.RDMA_READ) {
      throw new BadRequestException(Errno.EINVAL, index, "an RDMA READ cannot be inline");
    }
    int count = request.sgeCount();
    long total = 0;
    for (int i = 0; i < count; i++) {
      total += request.sgeLength(i);
    }
    if (total > maxInline) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "%d bytes inline: QP 0x%06x takes %d; raise maxInline".formatted(total, qpn, maxInline));
    }
    if (total == 0) {
      return at;
    }
    int next = at + InlineUnit.HEADER_SIZE;
    for (int i = 0; i < count; i++) {
      if (!request.copyData(i, ring, next)) {
        throw new BadRequestException(
            Errno.EINVAL,
            index,
            "an element given by address alone cannot be inline: give the memory region");
      }
      next += request.sgeLength(i);
    }
    InlineUnit.writeHeader(ring, at, (int) total);
    return at + InlineUnit.units((int) total) * UNIT;
  }

  private static BadRequestException unsupported(WrOpcode opcode, int index) {
    return new BadRequestException(
        Errno.EOPNOTSUPP, index, opcode + " is not supported by this queue pair");
  }

  private BadRequestException tooManyElements(int index, int count) {
    return new BadRequestException(
        Errno.EINVAL,
        index,
        "%d scatter/gather elements: QP 0x%06x takes %d".formatted(count, qpn, maxSge));
  }

  private static BadRequestException tooLong(int index, long total) {
    return new BadRequestException(
        Errno.EINVAL, index, "a message of %d bytes: at most 2^31 are possible".formatted(total));
  }

  /** How many requests are outstanding. */
  int outstanding() {
    return head - (int) TAIL.getAcquire(this);
  }

  /** Whether the oldest outstanding request stands at an offset of the ring. */
  boolean isOldest(int offset) {
    return outstanding() > 0 && offset == (tail & mask) << strideLog;
  }

  /**
   * The oldest outstanding request is complete: frees its slot and fills a completion unless it
   * succeeded unsignalled. Called under the completion queue's lock.
   *
   * @return 1 when a completion was filled, else 0
   */
  int complete(Completions out, int index, int status, int vendorError, int bytes) {
    int slot = tail & mask;
    long wrId = wrIds[slot];
    int note = notes[slot];
    TAIL.setRelease(this, tail + 1);
    if (status == 0 && (note & SIGNALED) == 0) {
      return 0;
    }
    out.set(index, wrId, status, note & 0xff, 0, vendorError, bytes, qpn, 0, 0);
    return 1;
  }

  /** Forgets everything. Callers hold the queue pair's and the completion queue's lock. */
  void reset() {
    head = 0;
    TAIL.setRelease(this, 0);
  }
}

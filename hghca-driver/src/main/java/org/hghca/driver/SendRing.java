package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

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
  private static final int UNIT = 16;
  private static final int UNIT_SHIFT = 4;
  private static final int OPCODE = 0xff;

  /** First dword of a next unit that has no successor. */
  private static final int LAST = NextUnit.address(0, 0);

  private static final long MAX_MESSAGE = 1L << 31;
  private static final VarHandle TAIL;

  private static final int HAS_REMOTE_ADDRESS = 1 << 8;

  /** One of the rare ones, which {@link #writeSpecial} tells apart. */
  private static final int SPECIAL = 1 << 9;

  private static final int ATOMIC = SPECIAL | 1 << 10;
  private static final int DATAGRAM = SPECIAL | 1 << 11;
  private static final int NEVER_INLINE = 1 << 12;
  private static final int ATOMIC_BYTES = 8;

  /** A power of two that holds all verbs opcodes. */
  private static final int VERBS = 8;

  /**
   * What a verbs opcode means, by {@link #variant} and opcode: the card's opcode in the low byte,
   * flags above. One table of a constant size for all rings, so that posting checks no index.
   */
  private static final int[] MEANINGS = new int[8 * VERBS];

  /** The opcode of the completion for an opcode of the card. */
  private static final int[] COMPLETIONS = new int[32];

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(SendRing.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    for (WrOpcode verb : WrOpcode.values()) {
      COMPLETIONS[opcode(verb)] = verb.completion().code();
    }
    for (QpType type : QpType.values()) {
      for (boolean has : new boolean[] {false, true}) {
        mean(type, has, has);
      }
    }
  }

  private static int opcode(WrOpcode verb) {
    return switch (verb) {
      case SEND -> WqeOpcode.SEND;
      case SEND_WITH_IMM -> WqeOpcode.SEND_IMM;
      case RDMA_WRITE -> WqeOpcode.RDMA_WRITE;
      case RDMA_WRITE_WITH_IMM -> WqeOpcode.RDMA_WRITE_IMM;
      case RDMA_READ -> WqeOpcode.RDMA_READ;
      case ATOMIC_CMP_AND_SWP -> WqeOpcode.ATOMIC_CS;
      case ATOMIC_FETCH_AND_ADD -> WqeOpcode.ATOMIC_FA;
    };
  }

  /** Sets what the verbs opcodes mean on queue pairs of a type. */
  private static void mean(QpType type, boolean atomics, boolean inlineOnUd) {
    for (WrOpcode verb : WrOpcode.values()) {
      MEANINGS[variant(type, atomics, inlineOnUd) | verb.code()] =
          meaning(verb, type, atomics, inlineOnUd);
    }
  }

  /** Which part of the table is that of a type, on a card that has atomics and inline datagrams. */
  private static int variant(QpType type, boolean atomics, boolean inlineOnUd) {
    return switch (type) {
      case RC -> atomics ? 0 : VERBS;
      case UC -> 2 * VERBS;
      case UD -> inlineOnUd ? 3 * VERBS : 4 * VERBS;
    };
  }

  /** SPECIAL and nothing else for what the type or the card lacks. */
  private static int meaning(WrOpcode verb, QpType type, boolean atomics, boolean inlineOnUd) {
    return switch (verb) {
      case SEND, SEND_WITH_IMM ->
          type != QpType.UD
              ? opcode(verb)
              : opcode(verb) | DATAGRAM | (inlineOnUd ? 0 : NEVER_INLINE);
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
          type == QpType.UD ? SPECIAL : opcode(verb) | HAS_REMOTE_ADDRESS;
      case RDMA_READ -> type == QpType.RC ? opcode(verb) | HAS_REMOTE_ADDRESS : SPECIAL;
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
          type == QpType.RC && atomics ? opcode(verb) | ATOMIC : SPECIAL;
    };
  }

  private final SpinLock lock;
  private final Supplier<BadRequestException> refusal;
  private final MemorySegment ring;
  private final UarPage uar;
  private final int qpn;
  private final int depth;
  private final int strideLog;
  private final int maxSge;
  private final int maxInline;
  private final int always;
  private final HghcaProtectionDomain pd;
  private final int variant;

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

  /**
   * A ring over zeroed memory.
   *
   * @param pd where the destinations of datagrams must be from
   * @param slots a power of two, at least depth
   * @param signalAll whether every request gives a completion
   * @param lock null when one thread does all posting
   * @param refusal what posting to a ring that is not open throws
   */
  SendRing(
      QpType type,
      HardwareProfile profile,
      HghcaProtectionDomain pd,
      MemorySegment ring,
      UarPage uar,
      int qpn,
      int depth,
      int slots,
      int strideLog,
      int maxSge,
      int maxInline,
      boolean signalAll,
      SpinLock lock,
      Supplier<BadRequestException> refusal) {
    this.variant = variant(type, profile.atomics(), profile.inlineOnUd());
    this.pd = pd;
    this.lock = lock;
    this.refusal = refusal;
    this.ring = ring;
    this.uar = uar;
    this.qpn = qpn;
    this.depth = depth;
    this.strideLog = strideLog;
    this.maxSge = Math.max(1, maxSge); // a slot always has room for one
    this.maxInline = maxInline;
    this.always = signalAll ? NextUnit.COMPLETION : 0;
    this.wrIds = new long[slots];
  }

  /** Posts one request and rings the doorbell; false when the ring is full. */
  boolean post(SendRequest request) {
    lock();
    try {
      long at = head;
      if (room((int) at) <= 0) {
        return false;
      }
      int meaning = MEANINGS[(request.opcodeNumber() | variant) & MEANINGS.length - 1];
      int slot = (int) at & wrIds.length - 1;
      long offset = (long) slot << strideLog;
      int size = write(request, meaning, 0, offset);
      wrIds[slot] = request.wrId();
      head = at + 1;
      uar.ringSendQueue(bell(request, meaning, size, offset));
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
    lock();
    int posted = 0;
    int chains = 0;
    long bell = 0;
    long previous = -1;
    long first = head;
    try {
      int wanted = Math.min(room((int) first), count);
      while (posted < wanted) {
        SendRequest request = requests[from + posted];
        int slot = (int) first + posted & wrIds.length - 1;
        int meaning = MEANINGS[(request.opcodeNumber() | variant) & MEANINGS.length - 1];
        long offset = (long) slot << strideLog;
        int size = write(request, meaning, posted, offset);
        int opcode = meaning & OPCODE;
        boolean fenced = request.isFenced();
        if (previous >= 0 && !fenced) {
          NextUnit.link(ring, previous, (int) (offset >>> UNIT_SHIFT), opcode, size, 0);
        } else {
          if (previous >= 0) {
            head = first + posted;
            uar.ringSendQueue(bell);
          }
          chains++;
          bell = bell(request, meaning, size, offset);
        }
        wrIds[slot] = request.wrId();
        posted++;
        previous = offset;
        if (fenced) {
          head = first + posted;
          uar.ringSendQueue(bell);
          previous = -1;
        }
      }
      return posted;
    } finally {
      // Before the doorbell: what it covers may complete at once.
      head = first + posted;
      if (previous >= 0) {
        uar.ringSendQueue(bell);
      }
      chained += posted - chains;
      unlock();
    }
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
    if (room <= 0 && limit == 0) {
      throw refusal.get();
    }
    return room;
  }

  private long bell(SendRequest request, int meaning, int size, long offset) {
    return Doorbell.sendQueue(
        qpn, size, (int) (offset >>> UNIT_SHIFT), request.isFenced() ? 1 : 0, meaning & OPCODE);
  }

  /**
   * The third dword of a next unit. The card does not look at the completion bit (it completes
   * every element); it is there for us, when the completion comes.
   */
  private int control(SendRequest request, int meaning, int size) {
    return NextUnit.control(
        meaning & OPCODE,
        size,
        NextUnit.MARKER
            | (request.isSolicited() ? NextUnit.SOLICITED : 0)
            | (request.isSignaled() ? NextUnit.COMPLETION : always));
  }

  /** Writes an element, as the last of its chain; returns its size in units. */
  private int write(SendRequest request, int meaning, int index, long offset) {
    long at = offset + UNIT;
    if ((meaning & HAS_REMOTE_ADDRESS) != 0) {
      RemoteAddressUnit.write(ring, at, request.remoteAddress(), request.rkey());
      at += UNIT;
    } else if ((meaning & SPECIAL) != 0) {
      at = writeSpecial(request, meaning, index, at);
    }
    long end =
        request.isInline() ? writeInline(request, index, at) : writeElements(request, index, at);
    int size = (int) (end - offset >>> UNIT_SHIFT);
    NextUnit.write(
        ring,
        offset,
        LAST,
        NextUnit.size(0, request.isFenced() ? 1 : 0),
        control(request, meaning, size),
        request.immediate());
    return size;
  }

  /** Writes what stands between next unit and data of an atomic or a datagram. */
  private long writeSpecial(SendRequest request, int meaning, int index, long at) {
    if ((meaning & DATAGRAM) == DATAGRAM) {
      return writeDestination(request, meaning, index, at);
    }
    if ((meaning & ATOMIC) == ATOMIC) {
      return writeOperands(request, index, at);
    }
    throw unsupported(request.opcode().toString(), index);
  }

  private long writeDestination(SendRequest request, int meaning, int index, long at) {
    if (!(request.addressHandle() instanceof HghcaAddressHandle to)
        || to.domain() != pd
        || to.isClosed()) {
      throw badDestination(request, index);
    }
    if ((meaning & NEVER_INLINE) != 0 && request.isInline()) {
      throw unsupported("inline data of a datagram", index);
    }
    UdUnit.write(
        ring,
        at,
        to.port(),
        to.sourceMac(),
        to.destinationMac(),
        to.sourceIp(),
        to.destinationIp(),
        request.remoteQpn(),
        request.remoteQkey());
    return at + UdUnit.SIZE;
  }

  private BadRequestException badDestination(SendRequest request, int index) {
    String complaint;
    if (request.addressHandle() == null) {
      complaint = "a datagram needs a destination: say it by SendRequest.to";
    } else if (!(request.addressHandle() instanceof HghcaAddressHandle ours)) {
      complaint = "the address handle is not of this device";
    } else if (ours.isClosed()) {
      complaint = ours.describe() + " is closed";
    } else {
      complaint =
          "%s is of %s and QP 0x%06x of %s"
              .formatted(ours.describe(), ours.domain().describe(), qpn, pd.describe());
    }
    return new BadRequestException(Errno.EINVAL, index, complaint);
  }

  private long writeOperands(SendRequest request, int index, long at) {
    if (request.isInline()) {
      throw new BadRequestException(Errno.EINVAL, index, "an atomic cannot be inline");
    }
    if (request.sgeCount() != 1 || request.sgeLength(0) != ATOMIC_BYTES) {
      throw new BadRequestException(
          Errno.EINVAL, index, "an atomic takes one element of 8 bytes, for what was there before");
    }
    RemoteAddressUnit.write(ring, at, request.remoteAddress(), request.rkey());
    long operands = at + RemoteAddressUnit.SIZE;
    AtomicUnit.write(ring, operands, request.swapOrAdd(), request.compare());
    return operands + AtomicUnit.SIZE;
  }

  /**
   * Writes data units and returns where they end; those of no bytes are left out, since they stop
   * the first revision of the card.
   */
  private long writeElements(SendRequest request, int index, long at) {
    int count = request.sgeCount();
    // The usual case without a loop, whose set-up would cost as much as the element itself.
    if (count == 1) {
      int length = request.sgeLength(0);
      if (length == 0) {
        return at;
      }
      DataUnit.write(ring, at, length, request.sgeLkey(0), request.sgeAddress(0));
      return at + UNIT;
    }
    return writeList(request, count, index, at);
  }

  private long writeList(SendRequest request, int count, int index, long at) {
    if (count > maxSge) {
      throw tooManyElements(index, count);
    }
    long next = at;
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
  private long writeInline(SendRequest request, int index, long at) {
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
    long next = at + InlineUnit.HEADER_SIZE;
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
    return at + (long) InlineUnit.units((int) total) * UNIT;
  }

  private static BadRequestException unsupported(String what, int index) {
    return new BadRequestException(
        Errno.EOPNOTSUPP, index, what + " is not supported by this queue pair");
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
    return (int) head - (int) TAIL.getAcquire(this);
  }

  /** How many requests were posted so far. */
  long posted() {
    return postedBeforeReset + head;
  }

  /** How many doorbells were rung so far. */
  long doorbells() {
    return posted() - chained;
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
    TAIL.setRelease(this, tail + 1);
    if (status == 0 && (flags & NextUnit.COMPLETION) == 0) {
      return 0;
    }
    out.set(
        index,
        wrId,
        status,
        COMPLETIONS[opcode & COMPLETIONS.length - 1],
        0,
        vendorError,
        bytes,
        qpn,
        0,
        0);
    return 1;
  }

  /** Forgets everything. The ring is not open; callers hold the completion queue's lock. */
  void reset() {
    lock(); // half of it would look like room
    try {
      postedBeforeReset += head;
      head = 0;
      TAIL.setRelease(this, 0);
    } finally {
      unlock();
    }
  }
}

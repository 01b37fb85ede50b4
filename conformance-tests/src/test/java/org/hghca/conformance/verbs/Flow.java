package org.hghca.conformance.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * Random messages of one direction of a connection, of every operation. Each message has a slot of
 * memory on both sides; its number selects its content from random bytes. Each completion is
 * compared with the expected one: its number, its order and its bytes; and once more before its
 * slot is reused, so that nothing is executed twice.
 *
 * <p>A buffer has three parts: messages that its owner sends or reads, messages that it receives,
 * and messages that the peer writes and reads. Behind them are two words for atomics: each one
 * returns the value that the one before it has left.
 */
final class Flow {
  /** The maximum number of requests in one post. */
  private static final int LIST = 16;

  /** The alignment of messages where the profile requires one. */
  private static final int GRAIN = 32;

  /** Receives that a late program posts at a time. */
  private static final int FEW = 2;

  private static final int POOL = 1 << 20;

  /** Access rights that buffers and queue pairs need. */
  static final AccessFlag[] ACCESS =
      TestProfile.has(Feature.ATOMICS)
          ? new AccessFlag[] {
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC
          }
          : new AccessFlag[] {
            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ
          };

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private enum Kind {
    SEND,
    SEND_IMM,
    WRITE,
    WRITE_IMM,
    READ,
    COMPARE_SWAP,
    FETCH_ADD;

    boolean isAtomic() {
      return this == COMPARE_SWAP || this == FETCH_ADD;
    }

    /** Whether a slot of the peer is written or read. */
    boolean usesRemoteSlot() {
      return this == WRITE || this == WRITE_IMM || this == READ;
    }

    boolean takesReceive() {
      return this == SEND || this == SEND_IMM || this == WRITE_IMM;
    }

    boolean hasImmediate() {
      return (this == SEND_IMM || this == WRITE_IMM) && TestProfile.has(Feature.IMMEDIATE_VALUE);
    }

    WcOpcode sent() {
      return switch (this) {
        case SEND, SEND_IMM -> WcOpcode.SEND;
        case WRITE, WRITE_IMM -> WcOpcode.RDMA_WRITE;
        case READ -> WcOpcode.RDMA_READ;
        case COMPARE_SWAP -> WcOpcode.COMP_SWAP;
        case FETCH_ADD -> WcOpcode.FETCH_ADD;
      };
    }
  }

  private static final Kind[] KINDS =
      Arrays.stream(Kind.values()).filter(Flow::exists).toArray(Kind[]::new);

  private static boolean exists(Kind kind) {
    return switch (kind) {
      case SEND_IMM -> TestProfile.has(Feature.SEND_WITH_IMMEDIATE);
      case COMPARE_SWAP, FETCH_ADD -> TestProfile.has(Feature.ATOMICS);
      default -> true;
    };
  }

  /**
   * The messages of a flow.
   *
   * @param lateReceives how often the receiver does something else than post receives, 0 to 1
   */
  record Plan(int messages, int depth, int typicalSize, int largestSize, double lateReceives) {

    /** Bytes of the buffer that each side needs. */
    long bufferSize() {
      return words() + 2 * Long.BYTES;
    }

    /** Bytes from one message's slot to the next. */
    long slotSize() {
      return TestProfile.pick(
          Feature.ANY_DESTINATION, largestSize, Math.ceilDiv(largestSize, GRAIN) * GRAIN);
    }

    /**
     * Offsets of the words for atomics: a counter, and one that swaps change from 0 to 1 and back.
     */
    long words() {
      return (3L * depth * slotSize() + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    }
  }

  private final Plan plan;
  private final Side from;
  private final Side to;
  private final SplittableRandom random;
  private final MemorySegment pool;
  private final String name;
  private final SendRequest[] sends = new SendRequest[LIST];
  private final ReceiveRequest[] receives = new ReceiveRequest[LIST];
  private final Completions completions = new Completions(LIST);

  /** By slot: its message. */
  private final Kind[] kinds;

  private final int[] lengths;
  private final int[] contents;

  /** By slot of an atomic: its expected result. */
  private final long[] originals;

  private long added;
  private long swapped;

  /** By receive slot: the message that it will receive. */
  private final int[] expected;

  private int posted;
  private int done;
  private int receivesPosted;
  private int receivesExpected;
  private int receivesDone;

  /**
   * @param pool random bytes, as {@link #randomBytes} makes them
   */
  Flow(Plan plan, Side from, Side to, SplittableRandom random, MemorySegment pool, String name) {
    this.plan = plan;
    this.from = from;
    this.to = to;
    this.random = random;
    this.pool = pool;
    this.name = name;
    this.kinds = new Kind[plan.depth()];
    this.lengths = new int[plan.depth()];
    this.contents = new int[plan.depth()];
    this.originals = new long[plan.depth()];
    this.expected = new int[plan.depth()];
    for (int i = 0; i < LIST; i++) {
      sends[i] = new SendRequest();
      receives[i] = new ReceiveRequest();
    }
  }

  /** Random bytes for messages up to a size. */
  static MemorySegment randomBytes(long seed, int largest) {
    byte[] bytes = new byte[POOL + largest];
    new SplittableRandom(seed).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  boolean isDone() {
    return done == plan.messages() && receivesDone == receivesExpected;
  }

  int completed() {
    return done;
  }

  /** Whether all atomics have changed memory, each one once. */
  boolean isCountRight() {
    return to.memory().get(WORD, plan.words()) == added
        && to.memory().get(WORD, plan.words() + Long.BYTES) == (swapped & 1);
  }

  /** Posts and polls as much as possible; returns whether there was progress. */
  boolean run() {
    // Each of these must run, also when another one made progress.
    boolean worked = postReceives();
    worked = postSends() || worked;
    worked = pollSends() || worked;
    return pollReceives() || worked;
  }

  private boolean postReceives() {
    boolean late = plan.lateReceives() > 0;
    int room = receivesDone + (late ? FEW : plan.depth()) - receivesPosted;
    if (room == 0 || late && random.nextDouble() < plan.lateReceives()) {
      return false;
    }
    int count = Math.min(room, LIST);
    for (int i = 0; i < count; i++) {
      int number = receivesPosted + i;
      long at = at(1, number % plan.depth());
      receives[i].wrId(number).into(to.buffer, at, plan.largestSize());
    }
    check(to.qp.tryPostReceive(receives, 0, count) == count, "receives do not fit");
    receivesPosted += count;
    return true;
  }

  private boolean postSends() {
    int room = Math.min(done + plan.depth(), plan.messages()) - posted;
    if (room == 0) {
      return false;
    }
    int count = 1 + random.nextInt(Math.min(room, LIST));
    for (int i = 0; i < count; i++) {
      prepare(sends[i]);
    }
    check(from.qp.tryPostSend(sends, 0, count) == count, "sends do not fit");
    return true;
  }

  private void prepare(SendRequest request) {
    int message = posted++;
    int slot = message % plan.depth();
    if (message >= plan.depth()) {
      verifyRemote(message - plan.depth(), slot);
    }
    Kind kind = KINDS[random.nextInt(KINDS.length)];
    if (kind.takesReceive()
        && receivesExpected == receivesPosted
        && !TestProfile.has(Feature.RNR_RETRY)) {
      kind = Kind.WRITE;
    }
    int length = kind.isAtomic() ? Long.BYTES : size();
    int content = random.nextInt(POOL);
    kinds[slot] = kind;
    lengths[slot] = length;
    contents[slot] = content;
    long local = at(0, slot);
    long remote = at(2, slot);
    if (kind == Kind.READ) {
      MemorySegment.copy(pool, content, to.memory(), remote, length);
    } else {
      MemorySegment.copy(pool, content, from.memory(), local, length);
    }
    if (kind.takesReceive()) {
      expected[receivesExpected++ % plan.depth()] = message;
    }
    request.wrId(message);
    switch (kind) {
      case SEND -> request.send();
      case SEND_IMM -> request.sendWithImmediate(content);
      case WRITE -> request.rdmaWrite(to.address(remote), to.buffer.rkey());
      case WRITE_IMM ->
          request.rdmaWriteWithImmediate(to.address(remote), to.buffer.rkey(), content);
      case READ -> request.rdmaRead(to.address(remote), to.buffer.rkey());
      case COMPARE_SWAP -> {
        long before = swapped++ & 1;
        originals[slot] = before;
        long word = to.address(plan.words() + Long.BYTES);
        request.compareAndSwap(word, to.buffer.rkey(), before, 1 - before);
      }
      case FETCH_ADD -> {
        originals[slot] = added;
        added += content;
        request.fetchAndAdd(to.address(plan.words()), to.buffer.rkey(), content);
      }
    }
    if (length > 0) {
      request.sge(from.buffer, local, length);
    }
    request.signaled();
  }

  /** Mostly around the typical size, sometimes none, sometimes the largest. */
  private int size() {
    double exponential = -Math.log(1 - random.nextDouble()) * plan.typicalSize();
    return (int) Math.clamp(exponential, Sizes.least(), plan.largestSize());
  }

  private long at(int part, int slot) {
    return ((long) part * plan.depth() + slot) * plan.slotSize();
  }

  private boolean pollSends() {
    int count = from.sendQueue.poll(completions);
    for (int i = 0; i < count; i++) {
      int message = done++;
      int slot = message % plan.depth();
      if (!completions.isSuccess(i)) {
        throw failure("message %d fails: %s".formatted(message, completions.describe(i)));
      }
      check(completions.wrId(i) == message, "message %d completes out of order", message);
      check(completions.opcode(i) == kinds[slot].sent(), "message %d has another opcode", message);
      verifyRemote(message, slot);
      if (kinds[slot] == Kind.READ) {
        verify(from, at(0, slot), message, slot);
      } else if (kinds[slot].isAtomic()) {
        long original = from.memory().get(WORD, at(0, slot));
        check(original == originals[slot], "atomic %d returns another value", message);
      }
    }
    return count > 0;
  }

  /** The data of a WRITE or a READ stays unchanged afterwards. */
  private void verifyRemote(int message, int slot) {
    if (kinds[slot].usesRemoteSlot()) {
      verify(to, at(2, slot), message, slot);
    }
  }

  private boolean pollReceives() {
    int count = to.receiveQueue.poll(completions);
    for (int i = 0; i < count; i++) {
      int receive = receivesDone++;
      check(receive < receivesExpected, "receive %d is one too many", receive);
      int place = receive % plan.depth();
      int message = expected[place];
      int slot = message % plan.depth();
      Kind kind = kinds[slot];
      if (!completions.isSuccess(i)) {
        throw failure("receive %d fails: %s".formatted(receive, completions.describe(i)));
      }
      check(completions.wrId(i) == receive, "receive %d completes out of order", receive);
      check(
          completions.opcode(i)
              == (kind == Kind.WRITE_IMM ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV),
          "receive %d has another opcode",
          receive);
      check(
          completions.hasImmediate(i) == kind.hasImmediate()
              && (!kind.hasImmediate() || completions.immediate(i) == contents[slot]),
          "receive %d has another immediate",
          receive);
      check(
          completions.byteLength(i) == lengths[slot],
          "receive %d is not of %d bytes",
          receive,
          lengths[slot]);
      verify(to, kind == Kind.WRITE_IMM ? at(2, slot) : at(1, place), message, slot);
    }
    return count > 0;
  }

  private void verify(Side side, long at, int message, int slot) {
    long wrong =
        MemorySegment.mismatch(
            pool,
            contents[slot],
            contents[slot] + lengths[slot],
            side.memory(),
            at,
            at + lengths[slot]);
    if (wrong >= 0) {
      throw failure(
          "byte %d of message %d (%s, %d bytes) is wrong"
              .formatted(wrong, message, kinds[slot], lengths[slot]));
    }
  }

  /** Boxes nothing unless it fails: it is called millions of times. */
  private void check(boolean holds, String what, int... numbers) {
    if (!holds) {
      throw failure(what.formatted(Arrays.stream(numbers).boxed().toArray()));
    }
  }

  private AssertionError failure(String what) {
    return new AssertionError("%s: %s; %s".formatted(name, what, this));
  }

  @Override
  public String toString() {
    return "%s: %d of %d messages posted, %d done, %d of %d receives done, %d posted"
        .formatted(
            name, posted, plan.messages(), done, receivesDone, receivesExpected, receivesPosted);
  }
}

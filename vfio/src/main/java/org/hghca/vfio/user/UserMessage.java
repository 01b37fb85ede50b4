package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.hghca.linux.SystemCalls;

/**
 * A message and its descriptors, in native memory that is reused for the next one. It is filled
 * either by {@link UserChannel#receive} or by its owner, who then sends it. It grows to the longest
 * message so far and gives its memory back when it is closed. Not thread-safe.
 *
 * <pre>
 * offset  0    2        4               8              12             16
 *         | id | command | size, all    | flags        | error number | payload ...
 *
 * flags   bits 3..0 type: 0 command, 1 reply   bit 4 no reply wanted   bit 5 error
 * </pre>
 */
final class UserMessage implements AutoCloseable {
  static final int HEADER_BYTES = 16;
  static final int ID = 0;
  static final int COMMAND = 2;
  static final int SIZE = 4;
  static final int FLAGS = 8;
  static final int ERROR = 12;

  static final int TYPE = 0xf;
  static final int TYPE_COMMAND = 0;
  static final int TYPE_REPLY = 1;
  static final int NO_REPLY = 1 << 4;
  static final int FAILED = 1 << 5;

  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  /** The initial size, enough for every message except large transfers. */
  private static final int FIRST_PAYLOAD = 4096 - HEADER_BYTES;

  private final int maxPayload;
  private final int[] descriptors;
  private int descriptorCount;
  private boolean tooManyDescriptors;
  private boolean outOfDescriptors;

  /** Ends the memory; null where that is on the heap. */
  private Arena arena;

  private MemorySegment memory;
  private int payloadBytes;

  /**
   * Makes an empty message.
   *
   * @param maxPayload the maximum number of received bytes after the header
   * @param maxDescriptors the maximum number of descriptors
   */
  UserMessage(int maxPayload, int maxDescriptors) {
    this.maxPayload = maxPayload;
    this.descriptors = new int[maxDescriptors];
    allocate(HEADER_BYTES + Math.min(FIRST_PAYLOAD, maxPayload));
  }

  /** A copy on the heap of what was received, which takes over the descriptors. */
  private UserMessage(UserMessage received) {
    maxPayload = received.payloadBytes;
    payloadBytes = received.payloadBytes;
    memory = MemorySegment.ofArray(new byte[HEADER_BYTES + payloadBytes]);
    MemorySegment.copy(received.memory, 0, memory, 0, memory.byteSize());
    descriptors = Arrays.copyOf(received.descriptors, received.descriptorCount);
    descriptorCount = received.descriptorCount;
    tooManyDescriptors = received.tooManyDescriptors;
    outOfDescriptors = received.outOfDescriptors;
    received.descriptorCount = 0;
  }

  private void allocate(long bytes) {
    arena = Arena.ofShared();
    memory = arena.allocate(bytes, Long.BYTES);
  }

  /** Header and payload; longer than the message. Another one after the message grew. */
  MemorySegment memory() {
    return memory;
  }

  int maxPayload() {
    return maxPayload;
  }

  int maxDescriptors() {
    return descriptors.length;
  }

  int id() {
    return memory.get(SHORT, ID) & 0xffff;
  }

  int command() {
    return memory.get(SHORT, COMMAND) & 0xffff;
  }

  /** The length that the header claims, 0 to 2^32 - 1, which includes the header. */
  long size() {
    return Integer.toUnsignedLong(memory.get(INT, SIZE));
  }

  int flags() {
    return memory.get(INT, FLAGS);
  }

  int type() {
    return flags() & TYPE;
  }

  boolean isReply() {
    return type() == TYPE_REPLY;
  }

  boolean wantsReply() {
    return (flags() & NO_REPLY) == 0;
  }

  /** Whether a reply says that its command failed, with {@link #error} for a reason. */
  boolean isFailed() {
    return (flags() & FAILED) != 0;
  }

  /** A positive error number, or 0 where none is given. */
  int error() {
    return memory.get(INT, ERROR);
  }

  /** How many bytes there are behind the header. */
  int payloadBytes() {
    return payloadBytes;
  }

  int getByte(int offset) {
    return memory.get(ValueLayout.JAVA_BYTE, at(offset, 1)) & 0xff;
  }

  int getShort(int offset) {
    return memory.get(SHORT, at(offset, 2)) & 0xffff;
  }

  int getInt(int offset) {
    return memory.get(INT, at(offset, 4));
  }

  long getLong(int offset) {
    return memory.get(LONG, at(offset, 8));
  }

  void putByte(int offset, int value) {
    memory.set(ValueLayout.JAVA_BYTE, at(offset, 1), (byte) value);
  }

  void putShort(int offset, int value) {
    memory.set(SHORT, at(offset, 2), (short) value);
  }

  void putInt(int offset, int value) {
    memory.set(INT, at(offset, 4), value);
  }

  void putLong(int offset, long value) {
    memory.set(LONG, at(offset, 8), value);
  }

  /** Copies bytes out of the payload. */
  void get(int offset, MemorySegment to, long toOffset, int length) {
    MemorySegment.copy(memory, at(offset, length), to, toOffset, length);
  }

  /** Copies bytes into the payload. */
  void put(int offset, MemorySegment from, long fromOffset, int length) {
    MemorySegment.copy(from, fromOffset, memory, at(offset, length), length);
  }

  private long at(int offset, int width) {
    return HEADER_BYTES + (long) Objects.checkFromIndexSize(offset, width, payloadBytes);
  }

  /** Begins a command. The owner fills in its payload. */
  void command(int id, UserCommand command, int flags, int payload) {
    header(id, command.code(), TYPE_COMMAND | flags, 0, payload);
  }

  /** Begins the reply to a message. */
  void reply(UserMessage to, int payload) {
    header(to.id(), to.command(), TYPE_REPLY, 0, payload);
  }

  /** Makes this the reply that a message failed: a header alone. */
  void failure(UserMessage to, int error) {
    failure(to, error, 0);
  }

  /** As {@link #failure(UserMessage, int)}, with a payload to fill in, for clients that know it. */
  void failure(UserMessage to, int error, int payload) {
    header(to.id(), to.command(), TYPE_REPLY | FAILED, error, payload);
  }

  private void header(int id, int command, int flags, int error, int payload) {
    grow(payload);
    payloadBytes = payload;
    descriptorCount = 0;
    memory.set(SHORT, ID, (short) id);
    memory.set(SHORT, COMMAND, (short) command);
    memory.set(INT, SIZE, HEADER_BYTES + payload);
    memory.set(INT, FLAGS, flags);
    memory.set(INT, ERROR, error);
  }

  /** Attaches a descriptor, which the owner keeps; call this after the message was begun. */
  void attach(int descriptor) {
    descriptors[descriptorCount++] = descriptor;
  }

  /**
   * Moves what was received to a message of its own that takes no more room than it needs. It is
   * read-only, and its memory is the garbage collector's.
   */
  UserMessage moved() {
    return new UserMessage(this);
  }

  /** How many descriptors are beside the message. */
  int descriptors() {
    return descriptorCount;
  }

  /** A descriptor; -1 if it was taken. */
  int descriptor(int index) {
    return descriptors[Objects.checkIndex(index, descriptorCount)];
  }

  /** A received descriptor, which the caller must close from now on. */
  int take(int index) {
    int descriptor = descriptor(index);
    descriptors[index] = -1;
    return descriptor;
  }

  /** Whether more descriptors were received than the message can have; the others are closed. */
  boolean hasTooManyDescriptors() {
    return tooManyDescriptors;
  }

  /** Whether descriptors were sent along for which this process has none left. */
  boolean isOutOfDescriptors() {
    return outOfDescriptors;
  }

  /** Closes received descriptors that were not taken. */
  void closeDescriptors(SystemCalls system) {
    for (int i = 0; i < descriptorCount; i++) {
      if (descriptors[i] >= 0) {
        system.close(descriptors[i]);
      }
    }
    descriptorCount = 0;
    tooManyDescriptors = false;
    outOfDescriptors = false;
  }

  /** Adds a received descriptor; returns whether there is room for it. */
  boolean arrived(int descriptor) {
    if (descriptorCount == descriptors.length) {
      tooManyDescriptors = true;
      return false;
    }
    descriptors[descriptorCount++] = descriptor;
    return true;
  }

  /** Records that this process could not accept received descriptors. */
  void ranOutOfDescriptors() {
    outOfDescriptors = true;
  }

  /** Makes room for a payload of a length that {@link #maxPayload} allows; keeps the header. */
  void receivePayload(int length) {
    grow(length);
    payloadBytes = length;
  }

  private void grow(int payload) {
    long needed = HEADER_BYTES + (long) payload;
    if (needed > memory.byteSize()) {
      MemorySegment before = memory;
      Arena end = arena;
      allocate(Math.max(needed, Math.min(2 * before.byteSize(), HEADER_BYTES + (long) maxPayload)));
      MemorySegment.copy(before, 0, memory, 0, HEADER_BYTES);
      end.close();
    }
  }

  /** Frees the memory: the message must not be used any longer. Idempotent. */
  @Override
  public void close() {
    if (arena != null) {
      arena.close();
      arena = null;
    }
  }
}

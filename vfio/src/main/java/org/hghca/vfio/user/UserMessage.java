package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.hghca.vfio.linux.SystemCalls;

/**
 * A message and the descriptors beside it, in native memory that is used again for the next one. It
 * is filled either by {@link UserChannel#receive} or by its owner, who then sends it. Not
 * thread-safe.
 *
 * <pre>
 * offset  0    2        4               8              12             16
 *         | id | command | size, all    | flags        | error number | payload ...
 *
 * flags   bits 3..0 type: 0 command, 1 reply   bit 4 no reply wanted   bit 5 error
 * </pre>
 */
final class UserMessage {
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

  /** What is allocated at first, and enough for every message but large transfers. */
  private static final int FIRST_PAYLOAD = 4096 - HEADER_BYTES;

  private final int maxPayload;
  private final int[] descriptors;
  private int descriptorCount;
  private boolean descriptorsLost;
  private MemorySegment memory;
  private int payloadBytes;

  /**
   * Makes an empty message.
   *
   * @param maxPayload the most bytes behind the header, for those it receives
   * @param maxDescriptors the most descriptors beside it
   */
  UserMessage(int maxPayload, int maxDescriptors) {
    this.maxPayload = maxPayload;
    this.descriptors = new int[maxDescriptors];
    this.memory = allocate(HEADER_BYTES + Math.min(FIRST_PAYLOAD, maxPayload));
  }

  private static MemorySegment allocate(long bytes) {
    return Arena.ofAuto().allocate(bytes, Long.BYTES);
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

  /** Begins a command. What its payload holds is what the owner puts there. */
  void command(int id, UserCommand command, int flags, int payload) {
    header(id, command.code(), TYPE_COMMAND | flags, 0, payload);
  }

  /** Begins the reply to a message. */
  void reply(UserMessage to, int payload) {
    header(to.id(), to.command(), TYPE_REPLY, 0, payload);
  }

  /** Makes this the reply that a message failed: a header alone. */
  void failure(UserMessage to, int error) {
    header(to.id(), to.command(), TYPE_REPLY | FAILED, error, 0);
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

  /** Sends a descriptor along, which stays the owner's; after the message was begun. */
  void attach(int descriptor) {
    descriptors[descriptorCount++] = descriptor;
  }

  /** Moves what was received to a message of its own that takes no more room than it needs. */
  UserMessage moved() {
    UserMessage other = new UserMessage(payloadBytes, descriptorCount);
    other.receivePayload(payloadBytes);
    MemorySegment.copy(memory, 0, other.memory, 0, HEADER_BYTES + (long) payloadBytes);
    System.arraycopy(descriptors, 0, other.descriptors, 0, descriptorCount);
    other.descriptorCount = descriptorCount;
    other.descriptorsLost = descriptorsLost;
    descriptorCount = 0;
    return other;
  }

  /** How many descriptors are beside the message. */
  int descriptors() {
    return descriptorCount;
  }

  /** A descriptor; -1 if it was taken. */
  int descriptor(int index) {
    return descriptors[Objects.checkIndex(index, descriptorCount)];
  }

  /** A received descriptor, which is the caller's to close from now on. */
  int take(int index) {
    int descriptor = descriptor(index);
    descriptors[index] = -1;
    return descriptor;
  }

  /** Whether more descriptors were received than the message can have; the others are closed. */
  boolean lostDescriptors() {
    return descriptorsLost;
  }

  /** Closes what was received and not taken. */
  void closeDescriptors(SystemCalls system) {
    for (int i = 0; i < descriptorCount; i++) {
      if (descriptors[i] >= 0) {
        system.close(descriptors[i]);
      }
    }
    descriptorCount = 0;
    descriptorsLost = false;
  }

  /** A descriptor came in; returns whether there is room for it. */
  boolean arrived(int descriptor) {
    if (descriptorCount == descriptors.length) {
      descriptorsLost = true;
      return false;
    }
    descriptors[descriptorCount++] = descriptor;
    return true;
  }

  void loseDescriptors() {
    descriptorsLost = true;
  }

  /** Makes room for a payload of a length that {@link #maxPayload} allows; keeps the header. */
  void receivePayload(int length) {
    grow(length);
    payloadBytes = length;
  }

  private void grow(int payload) {
    if (HEADER_BYTES + (long) payload > memory.byteSize()) {
      MemorySegment larger = allocate(Math.max(2 * memory.byteSize(), HEADER_BYTES + payload));
      MemorySegment.copy(memory, 0, larger, 0, HEADER_BYTES);
      memory = larger;
    }
  }
}

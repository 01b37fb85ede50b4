package org.hghca.verbs;

import java.util.Objects;

/**
 * Room for the completions of one poll: an array of {@code ibv_wc}. Created once and reused: {@link
 * CompletionQueue#poll} fills it from index 0. Not thread-safe.
 */
public final class Completions {
  /** Completion flag: the immediate is valid. */
  public static final int WITH_IMM = 1 << 1;

  /** Completion flag: 40 bytes of global route header precede the data. */
  public static final int GRH = 1;

  private static final int WORDS = 4;

  /** Four words each: wr_id; status, opcode, flags, vendor error; length, QPN; imm, source QPN. */
  private final long[] words;

  private final int capacity;

  /**
   * Room for some completions.
   *
   * @param capacity at least 1
   * @throws VerbsException EINVAL when it is less
   */
  public Completions(int capacity) {
    if (capacity < 1) {
      throw new VerbsException(
          Errno.EINVAL, "there must be room for at least 1 completion, not %d".formatted(capacity));
    }
    this.capacity = capacity;
    this.words = new long[Math.multiplyExact(capacity, WORDS)];
  }

  /** Maximum number of completions of one poll. */
  public int capacity() {
    return capacity;
  }

  /** The {@code wr_id} of the request. */
  public long wrId(int index) {
    return words[at(index)];
  }

  public WcStatus status(int index) {
    return WcStatus.of((int) words[at(index) + 1] & 0xff);
  }

  /** Whether the status is SUCCESS. */
  public boolean isSuccess(int index) {
    return (words[at(index) + 1] & 0xff) == 0;
  }

  /** The kind of request; after an error only its direction is certain. */
  public WcOpcode opcode(int index) {
    return WcOpcode.of((int) words[at(index) + 1] >>> 8 & 0xff);
  }

  /** {@link #GRH} and {@link #WITH_IMM}. */
  public int flags(int index) {
    return (int) words[at(index) + 1] >>> 16 & 0xff;
  }

  /** The vendor error code of the device; 0 if there is none. */
  public int vendorError(int index) {
    return (int) (words[at(index) + 1] >>> 32);
  }

  /** Bytes received, read, or sent. Undefined after an error. */
  public long byteLength(int index) {
    return words[at(index) + 2] & 0xffff_ffffL;
  }

  /** The number of the queue pair that the request was posted to. */
  public int qpNumber(int index) {
    return (int) (words[at(index) + 2] >>> 32);
  }

  /** Whether {@link #immediate} is valid. */
  public boolean hasImmediate(int index) {
    return (flags(index) & WITH_IMM) != 0;
  }

  /** The 32-bit immediate, as the peer set it. */
  public int immediate(int index) {
    return (int) words[at(index) + 3];
  }

  /** The peer's queue pair number, of a receive. */
  public int sourceQp(int index) {
    return (int) (words[at(index) + 3] >>> 32);
  }

  private int at(int index) {
    return Objects.checkIndex(index, capacity) * WORDS;
  }

  /** Fills an entry; for {@link org.hghca.verbs.spi.ProviderAccess}. */
  void set(int index, long wrId, int status, int opcode, int vendorError, int qpNumber) {
    int at = at(index);
    words[at] = wrId;
    words[at + 1] = status | opcode << 8 | (long) vendorError << 32;
    words[at + 2] = (long) qpNumber << 32;
    words[at + 3] = 0;
  }

  /** Adds the message to a filled entry; for {@link org.hghca.verbs.spi.ProviderAccess}. */
  void setMessage(int index, int byteLength, int flags, int immediate, int sourceQp) {
    int at = at(index);
    words[at + 1] |= (long) flags << 16;
    words[at + 2] |= byteLength & 0xffff_ffffL;
    words[at + 3] = immediate & 0xffff_ffffL | (long) sourceQp << 32;
  }

  /** One completion as a line of text. */
  public String describe(int index) {
    return "wr_id %d: %s (%d), %s, QPN 0x%06x, %d bytes%s"
        .formatted(
            wrId(index),
            status(index).text(),
            status(index).code(),
            opcode(index),
            qpNumber(index),
            byteLength(index),
            vendorError(index) == 0 ? "" : ", vendor error 0x%x".formatted(vendorError(index)));
  }

  /** The capacity; {@link #describe} has single completions. */
  @Override
  public String toString() {
    return "room for %d completions".formatted(capacity);
  }
}

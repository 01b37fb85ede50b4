package org.hghca.sockets.protocol;

/**
 * What an end may send: places in its send queue, bytes of its send buffer, the peer's credits and
 * the halves of the peer's buffer that are free. One thread at a time sends, under a lock of its
 * own; another one reports what completions say.
 *
 * <p>The send buffer is a ring: positions count its bytes modulo 2^31. A completion tells the
 * position and the number of the message that completed, which ends all before it.
 */
public final class SendWindow {
  /** Messages of the own queue that are left to control messages. */
  public static final int CONTROLS = 4;

  private static final int COUNT_BITS = 16;
  private static final int COUNT_MASK = (1 << COUNT_BITS) - 1;
  private static final int POSITION_MASK = Integer.MAX_VALUE;

  private final int depth;
  private final int ring;

  /** As {@link #stamp}. */
  private volatile long completed;

  /** Granted halves above 16 bits of limit. */
  private volatile int allowed;

  private int sent;
  private int dataSent;
  private int position;
  private int offset;
  private int taken;
  private int unsignaled;
  private int unsignaledFrom;
  private int controls;
  private final int[] controlNumbers = new int[CONTROLS];

  /**
   * Nothing is sent.
   *
   * @param depth messages of the send queue, from {@code 2 * CONTROLS} to 32767
   * @param ring bytes of the send buffer
   */
  public SendWindow(int depth, int ring) {
    this.depth = depth;
    this.ring = ring;
  }

  /**
   * The peer is known. While this is called nobody calls {@link #allowed}.
   *
   * @param credits its first limit of messages, 16 bits; a later one may have come before
   */
  public void open(int credits) {
    if (allowed == 0) {
      allowed = credits;
    }
  }

  // What completions say.

  /**
   * Messages are complete.
   *
   * @param stamp that of the last of them
   */
  public void completed(long stamp) {
    completed = stamp;
  }

  /**
   * The peer allows more.
   *
   * @param limit of messages, 16 bits
   * @param half whether a half of its buffer is free, too
   */
  public void allowed(int limit, boolean half) {
    allowed = (allowed & ~COUNT_MASK) + (half ? 1 << COUNT_BITS : 0) | limit;
  }

  // What may be sent.

  /** Messages that have not completed, as far as completions tell. */
  public int outstanding() {
    return sent - (int) (completed >>> Integer.SIZE) & COUNT_MASK;
  }

  /** Whether the queue takes another message. */
  public boolean hasPlace() {
    return outstanding() < depth - CONTROLS;
  }

  /** Whether the queue and the peer take another message that takes a credit. */
  public boolean hasCredit() {
    return hasPlace() && (dataSent - allowed & COUNT_MASK) != 0;
  }

  /** Whether the peer has granted a half that was not taken. */
  public boolean hasHalf() {
    return (allowed >>> COUNT_BITS) - taken != 0;
  }

  /** Takes the next half; the entry of the table in which it is. */
  public int takeHalf() {
    taken = taken + 1 & COUNT_MASK;
    return taken & 1;
  }

  /** Bytes of the send buffer that are free. */
  public int free() {
    return ring - (position - (int) completed & POSITION_MASK);
  }

  /** Bytes of the send buffer that are free in one piece from {@link #offset} on. */
  public int contiguous() {
    return Math.min(free(), ring - offset);
  }

  /** Where in the send buffer the next bytes go. */
  public int offset() {
    return offset;
  }

  /**
   * A message that takes one of the peer's credits is about to be sent.
   *
   * @param bytes of the send buffer that it holds until it completes
   * @return whether it must be signaled, so that what it holds comes back
   */
  public boolean send(int bytes) {
    dataSent++;
    return sendPlain(bytes);
  }

  /** The same, of a message that the peer's queue pair takes by itself. */
  public boolean sendPlain(int bytes) {
    position = position + bytes & POSITION_MASK;
    offset += bytes;
    if (offset == ring) {
      offset = 0;
    }
    sent++;
    unsignaled++;
    boolean signaled =
        unsignaled >= depth / 4 || (position - unsignaledFrom & POSITION_MASK) >= ring / 4;
    if (signaled) {
      signaled();
    }
    return signaled;
  }

  private void signaled() {
    unsignaled = 0;
    unsignaledFrom = position;
  }

  /** Whether a control message may be sent: at most {@link #CONTROLS} at a time. */
  public boolean hasControl() {
    int oldest = controlNumbers[controls % CONTROLS];
    return controls < CONTROLS || sent - outstanding() - oldest >= 0;
  }

  /** Which of {@link #CONTROLS} places the next control message has to itself. */
  public int controlPlace() {
    return controls % CONTROLS;
  }

  /** A control message is about to be sent, signaled. */
  public void sendControl() {
    sent++;
    controlNumbers[controls % CONTROLS] = sent;
    // Stays between CONTROLS and twice that once it is there: only the remainder matters.
    controls = controls == 2 * CONTROLS - 1 ? CONTROLS : controls + 1;
    signaled();
  }

  /** What the completion of the last sent message reports, 48 bits. */
  public long stamp() {
    return (long) (sent & COUNT_MASK) << Integer.SIZE | position;
  }

  /**
   * Whether all has completed that was sent until {@link #stamp} had a value, if all stops then.
   */
  public boolean hasCompleted(long stamp) {
    return completed == stamp;
  }
}

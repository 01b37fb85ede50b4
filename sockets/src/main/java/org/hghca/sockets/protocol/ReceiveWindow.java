package org.hghca.sockets.protocol;

/**
 * The account of a receive buffer: what has arrived, what was read, and what the peer is to be told
 * of it. One thread counts arrivals and one reads; what either may know of the other is published
 * by volatile fields.
 *
 * <p>A message is read when as many bytes were read as had arrived at some moment after it: the
 * bytes carry no bounds of messages, and none are kept.
 */
public final class ReceiveWindow implements Grants {
  private static final int COUNT_BITS = 16;
  private static final int COUNT_MASK = (1 << COUNT_BITS) - 1;

  private final int half;
  private final int queue;

  /** Bytes in the high 48 bits, the number of messages in the low 16. */
  private volatile long arrived;

  /** Bytes that the peer may have written in all: known to the thread that counts arrivals. */
  private volatile long granted;

  private volatile long read;

  /** As {@link #arrived}, at a moment whose messages count as read when its bytes were read. */
  private long mark;

  private volatile int messagesRead;
  private int offset;
  private int messagesTold;

  /**
   * Nothing has arrived, and both halves are free.
   *
   * @param half bytes of half the buffer
   * @param queue messages that the peer may have under way, 16 bits
   */
  public ReceiveWindow(int half, int queue) {
    this.half = half;
    this.queue = queue;
    this.granted = 2L * half;
  }

  /**
   * A message has arrived.
   *
   * @return false when the peer breaks the rules: it has no room for so many bytes, or they reach
   *     beyond a half
   */
  public boolean arrived(int bytes) {
    long before = arrived;
    long position = before >>> COUNT_BITS;
    if (bytes <= 0 || position + bytes > granted || position % half + bytes > half) {
      return false;
    }
    arrived = position + bytes << COUNT_BITS | before + 1 & COUNT_MASK;
    return true;
  }

  /** A message without bytes has arrived, which took one of the peer's credits. */
  public void arrivedWithoutBytes() {
    long before = arrived;
    arrived = before & ~COUNT_MASK | before + 1 & COUNT_MASK;
  }

  /** Bytes that can be read. */
  public int available() {
    return (int) ((arrived >>> COUNT_BITS) - read);
  }

  /** Bytes in one piece from {@link #offset} on. */
  public int contiguous() {
    return Math.min(available(), 2 * half - offset);
  }

  /** Where in the buffer to read. */
  public int offset() {
    return offset;
  }

  /** Some bytes were read, at most {@link #contiguous}. */
  public void read(int bytes) {
    long position = read + bytes;
    read = position;
    offset += bytes;
    if (offset == 2 * half) {
      offset = 0;
    }
    if (position >= mark >>> COUNT_BITS) {
      long now = arrived;
      messagesRead = (int) (position == now >>> COUNT_BITS ? now : mark) & COUNT_MASK;
      mark = now;
    }
  }

  @Override
  public boolean isHalfDue() {
    return read - granted >= -half;
  }

  @Override
  public void grantHalf() {
    long before = granted;
    granted = before + half;
  }

  @Override
  public boolean isLimitDue() {
    return (messagesRead - messagesTold & COUNT_MASK) >= queue / 2;
  }

  @Override
  public int tellLimit() {
    int now = messagesRead;
    messagesTold = now;
    return now + queue & COUNT_MASK;
  }
}

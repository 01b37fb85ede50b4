package org.hghca.sockets.protocol;

/**
 * The account of receive buffers, one for each message: which have arrived and wait to be read, and
 * what the peer is to be told of those that were. One thread counts arrivals and one reads.
 */
public final class SlotWindow implements Grants {
  /** Bytes in front of those of the stream. */
  public static final int HEADER = Integer.BYTES;

  private static final int COUNT_MASK = 0xffff;

  private final int credits;
  private final int longest;

  /** Slots and lengths of messages that have arrived, in a ring with room for all credits. */
  private final int[] slots;

  private final int mask;

  private final int[] lengths;

  /** Written by the thread that counts arrivals. */
  private volatile int arrivals;

  private volatile long bytesArrived;

  /** Written by the thread that reads. */
  private volatile int freed;

  private volatile long bytesRead;
  private volatile int told;
  private int offset;

  /**
   * Nothing has arrived.
   *
   * @param credits messages that the peer may have under way, 16 bits
   * @param slotBytes of a receive buffer, with the header
   */
  public SlotWindow(int credits, int slotBytes) {
    this.credits = credits;
    this.longest = slotBytes - HEADER;
    int places = Integer.highestOneBit(credits) << 1;
    this.slots = new int[places];
    this.lengths = new int[places];
    this.mask = places - 1;
  }

  /**
   * A message has arrived.
   *
   * @param bytes of the stream that it holds
   * @return false when the peer breaks the rules: it had no credit, or sent no bytes
   */
  public boolean arrived(int slot, int bytes) {
    int number = arrivals;
    if (bytes <= 0 || bytes > longest || number - told >= credits) {
      return false;
    }
    slots[number & mask] = slot;
    lengths[number & mask] = bytes;
    long before = bytesArrived;
    bytesArrived = before + bytes;
    arrivals = number + 1;
    return true;
  }

  /** Bytes that can be read. */
  public int available() {
    long read = bytesRead;
    return (int) (bytesArrived - read);
  }

  /** Whether a message waits to be read. */
  public boolean hasSlot() {
    return arrivals != freed;
  }

  /** Where the message is that is read next. */
  public int slot() {
    return slots[freed & mask];
  }

  /** Where in its bytes to read. */
  public int offset() {
    return offset;
  }

  /** Bytes that are left in it. */
  public int contiguous() {
    return lengths[freed & mask] - offset;
  }

  /** Some of its bytes were read, at most {@link #contiguous}. */
  public void read(int bytes) {
    offset += bytes;
    long before = bytesRead;
    bytesRead = before + bytes;
  }

  /** All of it was read, and its slot takes another one. */
  public void free() {
    offset = 0;
    int before = freed;
    freed = before + 1;
  }

  @Override
  public boolean isHalfDue() {
    return false;
  }

  @Override
  public void grantHalf() {
    throw new IllegalStateException("there are no halves");
  }

  @Override
  public boolean isLimitDue() {
    return freed - told >= credits / 2;
  }

  @Override
  public int tellLimit() {
    int now = freed;
    told = now;
    return now + credits & COUNT_MASK;
  }
}

package org.hghca.sockets.protocol;

/**
 * The immediate of a message.
 *
 * <pre>
 *   31 29 28                                                        0
 *  +-----+-----------------------------------------------------------+
 *  | op  | data                                                      |
 *  +-----+-----------------------------------------------------------+
 * </pre>
 */
public final class MessageWord {
  /** Bytes were written into the receive buffer; the data says how many. */
  public static final int DATA = 0;

  /** A plain write, which has no meaning here. */
  public static final int WRITE = 2;

  /** A new limit of messages; with 16 bytes, a half of the peer's buffer is free, too. */
  public static final int GRANT = 4;

  /** An entry of a table of other memory that the peer lets write. */
  public static final int IOMAP = 6;

  /** The data is {@link #DISCONNECT}, {@link #SHUTDOWN}, or to be ignored. */
  public static final int CONTROL = 7;

  public static final int DISCONNECT = 0;
  public static final int SHUTDOWN = 2;

  /** Most bytes of a DATA message. */
  public static final int MAX_BYTES = (1 << 29) - 1;

  private static final int OP_SHIFT = 29;
  private static final int LIMIT_MASK = 0xffff;

  private MessageWord() {}

  public static int op(int word) {
    return word >>> OP_SHIFT;
  }

  public static int data(int word) {
    return word & MAX_BYTES;
  }

  /** The limit of a GRANT: peers may set a bit above its 16. */
  public static int limit(int word) {
    return word & LIMIT_MASK;
  }

  /**
   * A DATA word.
   *
   * @param bytes from 1 to {@link #MAX_BYTES}
   */
  public static int ofData(int bytes) {
    return bytes;
  }

  /**
   * A GRANT word.
   *
   * @param limit its low 16 bits
   */
  public static int ofGrant(int limit) {
    return GRANT << OP_SHIFT | limit & LIMIT_MASK;
  }

  /**
   * An IOMAP word.
   *
   * @param index of the entry that was written, 16 bits
   */
  public static int ofMapping(int index) {
    return IOMAP << OP_SHIFT | index;
  }

  /**
   * A CONTROL word.
   *
   * @param what {@link #DISCONNECT} or {@link #SHUTDOWN}
   */
  public static int ofControl(int what) {
    return CONTROL << OP_SHIFT | what;
  }
}

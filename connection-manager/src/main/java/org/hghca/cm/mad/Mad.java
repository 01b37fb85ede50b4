package org.hghca.cm.mad;

/**
 * A management datagram with a message of the connection manager.
 *
 * @param transactionId of the request; its answers have it too
 */
public record Mad(long transactionId, Message message) implements Parsed {
  /** Bytes of a MAD. */
  public static final int LENGTH = 256;

  /**
   * The {@link #LENGTH} bytes.
   *
   * @throws IllegalArgumentException when a value does not fit into its field
   */
  public byte[] toBytes() {
    return Codec.write(this);
  }
}

package org.hghca.sockets.protocol;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.hghca.verbs.RemoteMemory;

/**
 * What each end tells the other in the private data of REQ and REP, in network byte order:
 *
 * <pre>
 *       0          1          2          3
 *  +----------+----------+----------+----------+
 *  | version  | flags    | credits             |  0
 *  +----------+----------+----------+----------+
 *  | 0                              | iomap    |  4
 *  +----------+----------+----------+----------+
 *  | address of the table of halves            |  8
 *  | key of the table                          | 16
 *  | entries of the table: 2                   | 20
 *  +-------------------------------------------+
 *  | address of the receive buffer             | 24
 *  | key of the receive buffer                 | 32
 *  | bytes of half the receive buffer          | 36
 *  +-------------------------------------------+
 * </pre>
 *
 * @param framing how messages are carried, which takes the place of the version
 * @param bigEndian whether the end's table of halves is big-endian
 * @param credits messages that the peer may send before a first grant, 16 bits
 * @param table where the peer writes entries of {@link HalfEntry}
 * @param half the first half of the receive buffer
 */
public record ConnectData(
    Framing framing, boolean bigEndian, int credits, RemoteMemory table, RemoteMemory half) {
  public static final int BYTES = 40;

  private static final int BIG_ENDIAN_FLAG = 1;

  /** The size of the table of other memory is valid; it is 0. */
  private static final int IOMAP_FLAG = 2;

  private static final int IOMAP_OFFSET = 7;

  /** The bytes of the layout. */
  public byte[] toBytes() {
    ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    buffer
        .put((byte) framing.version())
        .put((byte) (IOMAP_FLAG | (bigEndian ? BIG_ENDIAN_FLAG : 0)))
        .putShort((short) credits)
        .putInt(0);
    put(buffer, table, HalfEntry.COUNT);
    put(buffer, half, (int) half.length());
    return buffer.array();
  }

  private static void put(ByteBuffer buffer, RemoteMemory memory, int length) {
    buffer.putLong(memory.address()).putInt(memory.rkey()).putInt(length);
  }

  /**
   * Reads what a peer says.
   *
   * @param bytes the private data, which may be padded
   * @throws ForeignPeerException when they are not of this protocol
   */
  public static ConnectData of(byte[] bytes) throws ForeignPeerException {
    if (bytes.length < BYTES) {
      throw new ForeignPeerException(
          "the peer's private data has %d bytes, that of a stream %d"
              .formatted(bytes.length, BYTES));
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    int version = Byte.toUnsignedInt(buffer.get());
    Optional<Framing> framing = Framing.of(version);
    if (framing.isEmpty()) {
      throw new ForeignPeerException(
          "the peer speaks version %d of the stream protocol, this end version %d"
              .formatted(version, Framing.WRITES.version()));
    }
    boolean bigEndian = (buffer.get() & BIG_ENDIAN_FLAG) != 0;
    int credits = Short.toUnsignedInt(buffer.getShort());
    buffer.position(IOMAP_OFFSET + 1);
    RemoteMemory table = memory(buffer);
    RemoteMemory half = memory(buffer);
    if (table.length() != HalfEntry.COUNT || half.length() == 0 || credits == 0) {
      throw new ForeignPeerException(
          "the peer's stream has a table of %d entries, halves of %d bytes and %d credits"
              .formatted(table.length(), half.length(), credits));
    }
    return new ConnectData(framing.get(), bigEndian, credits, table, half);
  }

  private static RemoteMemory memory(ByteBuffer buffer) {
    long address = buffer.getLong();
    int key = buffer.getInt();
    return new RemoteMemory(address, key, Integer.toUnsignedLong(buffer.getInt()));
  }
}

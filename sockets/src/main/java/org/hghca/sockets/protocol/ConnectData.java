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
 *  | 0                              | mappings |  4
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
 * <p>Of {@link Framing#MESSAGES} the table has no address, and the receive buffer is one slot.
 *
 * @param framing how messages are carried, which takes the place of the version
 * @param bigEndian whether the end's table of halves is big-endian
 * @param credits messages that the peer may send before a first grant, 16 bits
 * @param table where the peer writes entries of {@link HalfEntry}
 * @param half the first half of the receive buffer
 * @param mappings entries of {@link MappingEntry}, behind those of the table
 */
public record ConnectData(
    Framing framing,
    boolean bigEndian,
    int credits,
    RemoteMemory table,
    RemoteMemory half,
    int mappings) {
  public static final int BYTES = 40;

  private static final int BIG_ENDIAN_FLAG = 1;

  /** The number of mappings is valid. */
  private static final int MAPPINGS_FLAG = 2;

  /** Set in a number of mappings of which the other bits are 256 each. */
  private static final int LARGE = 0x80;

  private static final int LARGE_SHIFT = 8;

  /** The bytes of the layout. */
  public byte[] toBytes() {
    ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    buffer
        .put((byte) framing.version())
        .put((byte) (MAPPINGS_FLAG | (bigEndian ? BIG_ENDIAN_FLAG : 0)))
        .putShort((short) credits)
        .putInt(mappings);
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
   * @param own how the own end carries messages
   * @throws ForeignPeerException when they are not of this protocol, or of the other framing
   */
  public static ConnectData of(byte[] bytes, Framing own) throws ForeignPeerException {
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
              .formatted(version, own.version()));
    }
    if (framing.get() != own) {
      throw new ForeignPeerException(
          "the peer carries a stream by %s, and this end by %s: their devices differ"
              .formatted(framing.get().operation(), own.operation()));
    }
    int flags = buffer.get();
    int credits = Short.toUnsignedInt(buffer.getShort());
    int mappings = buffer.getInt() & 0xff;
    RemoteMemory table = memory(buffer);
    RemoteMemory half = memory(buffer);
    if (table.length() != HalfEntry.COUNT
        || half.length() == 0
        || credits == 0
        || own == Framing.MESSAGES && half.length() <= SlotWindow.HEADER) {
      throw new ForeignPeerException(
          "the peer's stream has a table of %d entries, halves of %d bytes and %d credits"
              .formatted(table.length(), half.length(), credits));
    }
    return new ConnectData(
        framing.get(),
        (flags & BIG_ENDIAN_FLAG) != 0,
        credits,
        table,
        half,
        (flags & MAPPINGS_FLAG) == 0 ? 0 : unscaled(mappings));
  }

  private static int unscaled(int mappings) {
    return mappings <= LARGE ? mappings : (mappings & ~LARGE) << LARGE_SHIFT;
  }

  private static RemoteMemory memory(ByteBuffer buffer) {
    long address = buffer.getLong();
    int key = buffer.getInt();
    return new RemoteMemory(address, key, Integer.toUnsignedLong(buffer.getInt()));
  }
}

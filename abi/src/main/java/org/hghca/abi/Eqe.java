package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * An event queue entry. EXTENSION: neither the document nor the RTL defines one, and the RTL never
 * writes one. The format is that of the ancestor design, and the software HCA implements it.
 *
 * <pre>
 *       +0        +1        +2        +3
 * 00h  |    -    |  type   |    -    | subtype |
 * 04h  |         data, big-endian              |   QPN, CQN or port
 * 08h  |                  -                    |
 * ...
 * 1Ch  |    -    |    -    |    -    |  owner  |
 * </pre>
 *
 * <p>Unlike in a CQE, the data dword is big-endian, as in the ancestor design. Software writes
 * {@link #OWNER_HARDWARE} to give an entry to the card; the card writes {@link #OWNER_SOFTWARE}
 * last.
 */
public final class Eqe {
  /** EXTENSION: bytes of an entry. */
  public static final int SIZE = 32;

  /** EXTENSION: byte offset of the type. */
  public static final int TYPE_OFFSET = 0x01;

  /** EXTENSION: byte offset of the subtype. */
  public static final int SUBTYPE_OFFSET = 0x03;

  /** EXTENSION: byte offset of the data, one big-endian dword: QPN, CQN or port number. */
  public static final int DATA_OFFSET = 0x04;

  /** EXTENSION: byte offset of the owner. */
  public static final int OWNER_OFFSET = 0x1f;

  /** EXTENSION: owner byte of an entry that software may read. */
  public static final int OWNER_SOFTWARE = 0x00;

  /** EXTENSION: owner byte of an entry that the card may write. */
  public static final int OWNER_HARDWARE = 0x80;

  /** EXTENSION: type of a completion event; data is the CQN. Other types: {@link EventType}. */
  public static final int TYPE_COMPLETION = 0x00;

  /** EXTENSION: subtype of {@link EventType#PORT_CHANGE}: the port is down. */
  public static final int SUBTYPE_PORT_DOWN = 1;

  /** EXTENSION: subtype of {@link EventType#PORT_CHANGE}: the port is up. */
  public static final int SUBTYPE_PORT_UP = 4;

  private Eqe() {}

  /** The owner byte, read with acquire: at {@link #OWNER_SOFTWARE} the rest may be read. */
  public static int owner(MemorySegment segment, long offset) {
    return LittleEndian.getByteAcquire(segment, offset + OWNER_OFFSET);
  }

  /** The type: {@link #TYPE_COMPLETION} or the code of an {@link EventType}. */
  public static int type(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) >>> 8 * TYPE_OFFSET & 0xff;
  }

  /** The subtype. */
  public static int subtype(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) >>> 8 * SUBTYPE_OFFSET;
  }

  /** QPN, CQN or port number. */
  public static int data(MemorySegment segment, long offset) {
    return Integer.reverseBytes(LittleEndian.getInt(segment, offset + DATA_OFFSET));
  }

  /** Software gives an entry to the card. */
  public static void free(MemorySegment segment, long offset) {
    LittleEndian.putInt(segment, offset + 0x1c, OWNER_HARDWARE << 24);
  }

  /** A device writes an event: all 32 bytes, the owner last. */
  public static void encode(MemorySegment segment, long offset, int type, int subtype, int data) {
    int first = (subtype & 0xff) << 8 * SUBTYPE_OFFSET | (type & 0xff) << 8 * TYPE_OFFSET;
    LittleEndian.putInts(segment, offset, first, Integer.reverseBytes(data));
    LittleEndian.putLong(segment, offset + 0x08, 0);
    LittleEndian.putLong(segment, offset + 0x10, 0);
    // A reader that sees the owner byte must see the other dwords.
    VarHandle.releaseFence();
    LittleEndian.putInts(segment, offset + 0x18, 0, OWNER_SOFTWARE << 24);
  }
}

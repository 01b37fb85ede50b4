package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The raddr unit: where an RDMA READ, RDMA WRITE or atomic goes.
 *
 * <pre>
 *       31                               0
 * 00h  |           raddr[31:0]            |
 * 04h  |           raddr[63:32]           |
 * 08h  |           rkey[31:0]             |
 * 0Ch  |                -                 |
 * </pre>
 *
 * <p>Source: interface document, tables 3-4-4 and 3-4-5.
 */
public final class RemoteAddressUnit {
  /** Bytes of the unit. Table 3-4-4. */
  public static final int SIZE = 16;

  /** Byte offset of raddr, 64 bits. Table 3-4-5. */
  public static final int ADDRESS_OFFSET = 0x00;

  /** Byte offset of rkey, 32 bits. Table 3-4-5. */
  public static final int RKEY_OFFSET = 0x08;

  private RemoteAddressUnit() {}

  /** Writes the unit by two 8-byte stores; the blank dword is zero. */
  public static void write(MemorySegment segment, long offset, long address, int rkey) {
    LittleEndian.putUnit(segment, offset, address, LittleEndian.join(rkey, 0));
  }

  /** raddr: the peer's virtual address. */
  public static long address(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset + ADDRESS_OFFSET);
  }

  /** rkey of the peer's memory region. */
  public static int rkey(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + RKEY_OFFSET);
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The UD unit: the destination of a datagram.
 *
 * <pre>
 *       31             16 15             0
 * 00h  |             port                 |
 * 04h  |  dmac[15:0]     |  smac[15:0]    |
 * 08h  |           smac[47:16]            |
 * 0Ch  |           dmac[47:16]            |
 * 10h  |             sip                  |
 * 14h  |             dip                  |
 * 18h  |              -                   |
 * 1Ch  |              -                   |
 * 20h  |             dqpn                 |
 * 24h  |             qkey                 |
 * 28h  |              -                   |
 * 2Ch  |              -                   |
 * </pre>
 *
 * <p>A MAC is a number of 48 bits whose most significant byte is the first on the wire:
 * 12:34:56:78:9a:bc is 0x123456789abc. An IPv4 address a.b.c.d is 0xaabbccdd. The first RTL takes
 * only dmac, dip, dqpn and qkey from here, and port, smac and sip from the QPC.
 *
 * <p>Source: interface document, tables 3-4-8 and 3-4-9 (which calls the Q_Key a P_Key).
 */
public final class UdUnit {
  /** Bytes of the unit. Table 3-4-8. */
  public static final int SIZE = 48;

  /** Byte offset of port, 32 bits. Table 3-4-9. */
  public static final int PORT_OFFSET = 0x00;

  /** Byte offset of the dword with dmac[15:0] in [31:16] and smac[15:0] in [15:0]. Table 3-4-9. */
  public static final int MAC_LOW_OFFSET = 0x04;

  /** Byte offset of smac[47:16]. Table 3-4-9. */
  public static final int SOURCE_MAC_HIGH_OFFSET = 0x08;

  /** Byte offset of dmac[47:16]. Table 3-4-9. */
  public static final int DESTINATION_MAC_HIGH_OFFSET = 0x0c;

  /** Byte offset of sip, 32 bits. Table 3-4-9. */
  public static final int SOURCE_IP_OFFSET = 0x10;

  /** Byte offset of dip, 32 bits. Table 3-4-9. */
  public static final int DESTINATION_IP_OFFSET = 0x14;

  /** Byte offset of dqpn, 32 bits. Table 3-4-9. */
  public static final int DESTINATION_QPN_OFFSET = 0x20;

  /** Byte offset of qkey, 32 bits. Table 3-4-9. */
  public static final int QKEY_OFFSET = 0x24;

  private UdUnit() {}

  /** Writes all 48 bytes by 8-byte stores; blank dwords are zero. MACs have 48 bits. */
  public static void write(
      MemorySegment segment,
      long offset,
      int port,
      long sourceMac,
      long destinationMac,
      int sourceIp,
      int destinationIp,
      int destinationQpn,
      int qkey) {
    int macLow = (int) destinationMac << 16 | (int) sourceMac & 0xffff;
    LittleEndian.putInts(segment, offset + PORT_OFFSET, port, macLow);
    LittleEndian.putInts(
        segment,
        offset + SOURCE_MAC_HIGH_OFFSET,
        (int) (sourceMac >>> 16),
        (int) (destinationMac >>> 16));
    LittleEndian.putInts(segment, offset + SOURCE_IP_OFFSET, sourceIp, destinationIp);
    LittleEndian.putLong(segment, offset + 0x18, 0);
    LittleEndian.putInts(segment, offset + DESTINATION_QPN_OFFSET, destinationQpn, qkey);
    LittleEndian.putLong(segment, offset + 0x28, 0);
  }

  /** port. */
  public static int port(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + PORT_OFFSET);
  }

  /** smac as a number of 48 bits. */
  public static long sourceMac(MemorySegment segment, long offset) {
    return mac(
        LittleEndian.getInt(segment, offset + SOURCE_MAC_HIGH_OFFSET),
        LittleEndian.getInt(segment, offset + MAC_LOW_OFFSET) & 0xffff);
  }

  /** dmac as a number of 48 bits. */
  public static long destinationMac(MemorySegment segment, long offset) {
    return mac(
        LittleEndian.getInt(segment, offset + DESTINATION_MAC_HIGH_OFFSET),
        LittleEndian.getInt(segment, offset + MAC_LOW_OFFSET) >>> 16);
  }

  /** sip. */
  public static int sourceIp(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + SOURCE_IP_OFFSET);
  }

  /** dip. */
  public static int destinationIp(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + DESTINATION_IP_OFFSET);
  }

  /** dqpn. */
  public static int destinationQpn(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + DESTINATION_QPN_OFFSET);
  }

  /** qkey. */
  public static int qkey(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + QKEY_OFFSET);
  }

  private static long mac(int high, int low) {
    return (high & 0xffff_ffffL) << 16 | low;
  }
}

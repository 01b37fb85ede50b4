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
 *
 * EXTENSION, with bit 31 of 28h, ipv6:
 * 10h  |     dgid, 16 bytes to 1Fh        |
 *
 *       31   30 29..24 23..16      15..8    7..0
 * 28h  |ipv6|path| - |sgid_index|hop_limit|tclass|
 *              31        30..20      19..0
 * 2Ch  |port_by_numbers|     -   |  flow_label  |
 * </pre>
 *
 * <p>A MAC is a number of 48 bits whose most significant byte is the first on the wire:
 * 12:34:56:78:9a:bc is 0x123456789abc. An IPv4 address a.b.c.d is 0xaabbccdd. The first RTL takes
 * only dmac, dip, dqpn and qkey from here, and port, smac and sip from the QPC.
 *
 * <p>EXTENSION, {@link DeviceExtension#IPV6_ADDRESSES}: with {@link #IPV6} the destination is the
 * GID dgid, its 16 bytes in the order of the wire in place of sip and dip, and the source is entry
 * sgid_index of the {@link GidTable}.
 *
 * <p>EXTENSION, {@link DeviceExtension#FLOW_LABELS}: with {@link #PATH}, hop_limit, tclass and
 * flow_label are those of the datagram, with either kind of address; hop limits 0 and 1 stand for
 * 64. With a flow label of 0 the UDP source port is that of a connection, see {@link
 * QueuePairContext#PORT_BY_NUMBERS}; with {@link #PORT_BY_NUMBERS} to the queue pair FFFFFFh, which
 * stands for a group, by the own number alone.
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

  /** EXTENSION: byte offset of dgid, 16 bytes, where sip and dip are otherwise. */
  public static final int DESTINATION_GID_OFFSET = 0x10;

  /** EXTENSION: byte offset of the dword with {@link #IPV6} and sgid_index. */
  public static final int PATH_OFFSET = 0x28;

  /** EXTENSION: byte offset of the dword with flow_label in [19:0]. */
  public static final int FLOW_LABEL_OFFSET = 0x2c;

  /** EXTENSION, 28h[31]: the destination is dgid. */
  public static final int IPV6 = 1 << 31;

  /** EXTENSION, 28h[30]: the dwords from 28h on have the path's fields. */
  public static final int PATH = 1 << 30;

  /** EXTENSION, 2Ch[31]: the UDP source port is by both queue pair numbers. */
  public static final int PORT_BY_NUMBERS = 1 << 31;

  private static final int FLOW_LABEL_MASK = 0xf_ffff;
  private static final int SOURCE_INDEX_SHIFT = 16;
  private static final int SOURCE_INDEX_MASK = 0xff;

  private UdUnit() {}

  /**
   * EXTENSION. The dword at {@link #PATH_OFFSET} of a datagram to a GID.
   *
   * @param sourceIndex entry of the {@link GidTable} to send from
   */
  public static int ipv6Path(int sourceIndex) {
    return IPV6 | (sourceIndex & SOURCE_INDEX_MASK) << SOURCE_INDEX_SHIFT;
  }

  /**
   * EXTENSION. Turns a unit that {@link #write} has written into one with an IPv6 destination.
   *
   * @param gidHigh the first 8 bytes of the GID, the first of them in the highest bits
   * @param path from {@link #ipv6Path}
   */
  public static void writeIpv6(
      MemorySegment segment, long offset, long gidHigh, long gidLow, int path) {
    LittleEndian.putUnit(
        segment,
        offset + DESTINATION_GID_OFFSET,
        Long.reverseBytes(gidHigh),
        Long.reverseBytes(gidLow));
    LittleEndian.putInt(segment, offset + PATH_OFFSET, path);
  }

  /**
   * EXTENSION. The dword at {@link #PATH_OFFSET} of a datagram with the fields of a path.
   *
   * @param addresses 0, or from {@link #ipv6Path}
   * @param hopLimit 8 bits
   * @param trafficClass 8 bits
   */
  public static int path(int addresses, int hopLimit, int trafficClass) {
    return addresses | PATH | (hopLimit & 0xff) << 8 | trafficClass & 0xff;
  }

  /**
   * EXTENSION. Gives a unit that {@link #write} has written the fields of a path.
   *
   * @param path from {@link #path}
   * @param flow flow label, 20 bits, or {@link #PORT_BY_NUMBERS}
   */
  public static void writePath(MemorySegment segment, long offset, int path, int flow) {
    LittleEndian.putInts(segment, offset + PATH_OFFSET, path, flow);
  }

  /** EXTENSION. Whether there are the fields of a path. */
  public static boolean hasPath(MemorySegment segment, long offset) {
    return (LittleEndian.getInt(segment, offset + PATH_OFFSET) & PATH) != 0;
  }

  /** EXTENSION. hop_limit. */
  public static int hopLimit(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + PATH_OFFSET) >>> 8 & 0xff;
  }

  /** EXTENSION. tclass. */
  public static int trafficClass(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + PATH_OFFSET) & 0xff;
  }

  /** EXTENSION. flow_label. */
  public static int flowLabel(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + FLOW_LABEL_OFFSET) & FLOW_LABEL_MASK;
  }

  /** EXTENSION. Whether the UDP source port is by both queue pair numbers. */
  public static boolean isPortByNumbers(MemorySegment segment, long offset) {
    return (LittleEndian.getInt(segment, offset + FLOW_LABEL_OFFSET) & PORT_BY_NUMBERS) != 0;
  }

  /** EXTENSION. Whether the destination is dgid. */
  public static boolean isIpv6(MemorySegment segment, long offset) {
    return (LittleEndian.getInt(segment, offset + PATH_OFFSET) & IPV6) != 0;
  }

  /** EXTENSION. sgid_index. */
  public static int sourceIndex(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + PATH_OFFSET) >>> SOURCE_INDEX_SHIFT
        & SOURCE_INDEX_MASK;
  }

  /** EXTENSION. The first 8 bytes of dgid, the first of them in the highest bits. */
  public static long destinationGidHigh(MemorySegment segment, long offset) {
    return Long.reverseBytes(LittleEndian.getLong(segment, offset + DESTINATION_GID_OFFSET));
  }

  /** EXTENSION. The last 8 bytes of dgid. */
  public static long destinationGidLow(MemorySegment segment, long offset) {
    return Long.reverseBytes(LittleEndian.getLong(segment, offset + DESTINATION_GID_OFFSET + 8));
  }

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

package org.hghca.vfio;

import java.util.OptionalLong;

/**
 * The PCI Express capability "Device Serial Number" (PCI Express Base Specification, extended
 * capability 0003h), in which network cards keep their MAC address as an EUI-64:
 *
 * <pre>
 * +0h  0003h, version 1, next capability
 * +4h  low half:   FFh or FEh | mac[3] | mac[4] | mac[5]
 * +8h  high half:  mac[0] | mac[1] | mac[2] | FFh
 * </pre>
 */
public final class SerialNumber {
  /** Offset of the extended capabilities. */
  private static final int FIRST = 0x100;

  private static final int ID = 0x0003;
  private static final int VERSION_1 = 1 << 16;
  private static final int HEADER_BYTES = 4;

  /** More do not fit into configuration space; a longer list is circular. */
  private static final int MOST = (ConfigurationSpace.SIZE - FIRST) / HEADER_BYTES;

  private SerialNumber() {}

  /**
   * The three 32-bit registers of the capability when it is the last one and holds a MAC.
   *
   * @param mac 48 bits
   */
  public static int[] registers(long mac) {
    return new int[] {
      VERSION_1 | ID,
      0xff << 24 | (int) (mac & 0xff_ffff),
      (int) (mac >> 24 & 0xff_ffff) << 8 | 0xff
    };
  }

  /** The MAC in a function's serial number; empty if it has none or another format. */
  static OptionalLong mac(ConfigurationSpace configuration) {
    int at = FIRST;
    for (int i = 0; i < MOST && at >= FIRST; i++) {
      int header = configuration.read(at, 4);
      if (header == 0 || header == -1) {
        break; // the list is empty, or nothing responds
      }
      if ((header & 0xffff) == ID) {
        return mac(configuration.read(at + 4, 4), configuration.read(at + 8, 4));
      }
      at = header >>> 20 & 0xffc;
    }
    return OptionalLong.empty();
  }

  private static OptionalLong mac(int low, int high) {
    int filler = (high & 0xff) << 8 | low >>> 24;
    long mac = (high >>> 8 & 0xff_ffffL) << 24 | low & 0xff_ffff;
    boolean unicast = (mac >> 40 & 1) == 0 && mac != 0;
    return (filler == 0xffff || filler == 0xfffe) && unicast
        ? OptionalLong.of(mac)
        : OptionalLong.empty();
  }
}

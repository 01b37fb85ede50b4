package org.hghca.model.hca;

import org.hghca.vfio.SerialNumber;

/**
 * The configuration space of the software HCA: a type 0 header with 64-bit base address registers,
 * a PCI Express capability, a serial number and, where it has interrupts, MSI-X. Thread-safe.
 *
 * <pre>
 * 00h  header
 * 40h  PCI Express capability, version 2, 3Ch bytes: an endpoint
 * 80h  MSI-X capability, 0Ch bytes: table and pending bits stand in a region of their own
 * 100h device serial number: the port's MAC
 * </pre>
 *
 * <p>The ids of the real card stand inside a vendor's IP block and are in no document. These are
 * placeholders: vendor 1234h, which is assigned to nobody and is what emulators use, and a device
 * id that means nothing.
 */
public final class ConfigurationRegisters {
  static final int VENDOR_ID = 0x1234;
  static final int DEVICE_ID = 0x4843;

  private static final int SIZE = 4096;
  private static final int COMMAND = 0x04;
  private static final int COMMAND_MEMORY = 1 << 1;
  private static final int COMMAND_BUS_MASTER = 1 << 2;
  private static final int COMMAND_NO_INTX = 1 << 10;
  private static final int STATUS_CAPABILITIES = 1 << 4;
  private static final int BAR0 = 0x10;
  private static final int BAR_64_BIT = 0x4;
  private static final int CAPABILITY_POINTER = 0x34;
  private static final int PCIE = 0x40;
  private static final int PCIE_DEVICE_CAPABILITIES = PCIE + 4;
  private static final int PCIE_DEVICE_CONTROL = PCIE + 8;
  private static final int PCIE_LINK_CAPABILITIES = PCIE + 0xc;
  private static final int PCIE_LINK_STATUS = PCIE + 0x12;
  private static final int PCIE_DEVICE_CAPABILITIES_2 = PCIE + 0x24;
  private static final int SERIAL_NUMBER = 0x100;
  private static final int MSIX = 0x80;
  private static final int MSIX_CONTROL = MSIX + 2;
  private static final int MSIX_TABLE = MSIX + 4;
  private static final int MSIX_PENDING = MSIX + 8;

  /** Message control bit 15: on, bit 14: every vector is masked; bits 10..0 the size less 1. */
  private static final int MSIX_WRITABLE = 1 << 15 | 1 << 14;

  /** Bits 3..0 speed, 3 for 8 GT/s; bits 9..4 lanes: what the board is built for. */
  private static final int LINK = 8 << 4 | 3;

  /** Device capabilities bit 28: function-level reset; device control bit 15 starts it. */
  private static final int CAN_RESET = 1 << 28;

  private static final int START_RESET = 1 << 15;

  /** Class network controller would be 02h; 0207h is its InfiniBand subclass. */
  private static final int CLASS_CODE = 0x02_0700;

  private final byte[] atPowerOn;
  private final byte[] values = new byte[SIZE];
  private final byte[] writable = new byte[SIZE];
  private final boolean canReset;

  /** What software's writes set off. */
  public interface Listener {
    void busMaster(boolean on);

    void resetRequested();
  }

  private final Listener listener;

  /**
   * @param barSizes in bytes, 0 where there is none; each but 0 takes two registers
   * @param vectors how many interrupt vectors there are, 0 to 2048; the table is in BAR {@link
   *     MsixRegion#BAR}
   * @param mac of the port, 48 bits
   */
  public ConfigurationRegisters(
      long[] barSizes, int vectors, long mac, boolean canReset, Listener listener) {
    this.canReset = canReset;
    this.listener = listener;
    set(0x00, 4, DEVICE_ID << 16 | VENDOR_ID);
    set(0x08, 4, CLASS_CODE << 8);
    set(0x06, 2, STATUS_CAPABILITIES);
    set(0x2c, 4, DEVICE_ID << 16 | VENDOR_ID);
    set(CAPABILITY_POINTER, 1, PCIE);
    mask(COMMAND, 2, COMMAND_MEMORY | COMMAND_BUS_MASTER | COMMAND_NO_INTX);
    for (int bar = 0; bar < barSizes.length; bar++) {
      if (barSizes[bar] != 0) {
        set(BAR0 + 4 * bar, 4, BAR_64_BIT);
        mask(BAR0 + 4 * bar, 4, (int) -barSizes[bar] & ~0xf);
        mask(BAR0 + 4 * bar + 4, 4, (int) (-barSizes[bar] >> 32));
      }
    }
    mask(0x3c, 1, 0xff);
    // PCI Express capability (10h), version 2, endpoint; payload of 256 bytes.
    set(PCIE, 4, 0x0002_0010);
    set(PCIE_DEVICE_CAPABILITIES, 4, 1 | (canReset ? CAN_RESET : 0));
    // Relaxed ordering and no-snoop allowed, reads of 512 bytes: what the specification starts
    // with.
    set(PCIE_DEVICE_CONTROL, 2, 0x2810);
    mask(PCIE_DEVICE_CONTROL, 2, 0x7fff);
    set(PCIE_LINK_CAPABILITIES, 4, LINK);
    set(PCIE_LINK_STATUS, 2, LINK);
    // Completion time-outs can be disabled: what an endpoint of version 2 must have.
    set(PCIE_DEVICE_CAPABILITIES_2, 4, 1 << 4);
    mask(PCIE_DEVICE_CAPABILITIES_2 + 4, 2, 1 << 4);
    if (vectors > 0) {
      set(PCIE + 1, 1, MSIX);
      set(MSIX, 1, 0x11);
      set(MSIX_CONTROL, 2, vectors - 1);
      mask(MSIX_CONTROL, 2, MSIX_WRITABLE);
      set(MSIX_TABLE, 4, MsixRegion.TABLE | MsixRegion.BAR);
      set(MSIX_PENDING, 4, MsixRegion.PENDING | MsixRegion.BAR);
    }
    int[] serialNumber = SerialNumber.registers(mac);
    for (int i = 0; i < serialNumber.length; i++) {
      set(SERIAL_NUMBER + 4 * i, 4, serialNumber[i]);
    }
    atPowerOn = values.clone();
  }

  public synchronized int read(int offset, int width) {
    int value = 0;
    for (int i = 0; i < width; i++) {
      value |= (values[offset + i] & 0xff) << 8 * i;
    }
    return value;
  }

  public void write(int offset, int width, int value) {
    boolean reset;
    synchronized (this) {
      for (int i = 0; i < width; i++) {
        int keep = values[offset + i] & ~writable[offset + i];
        values[offset + i] = (byte) (keep | value >> 8 * i & writable[offset + i]);
      }
      int shift = 8 * (PCIE_DEVICE_CONTROL - offset);
      long written = Integer.toUnsignedLong(value);
      reset =
          canReset
              && offset <= PCIE_DEVICE_CONTROL + 1
              && offset + width > PCIE_DEVICE_CONTROL + 1
              && ((shift >= 0 ? written >> shift : written << -shift) & START_RESET) != 0;
    }
    if (reset) {
      listener.resetRequested();
    } else if (offset <= COMMAND && offset + width > COMMAND) {
      listener.busMaster((read(COMMAND, 2) & COMMAND_BUS_MASTER) != 0);
    }
  }

  /** What a function-level reset does here: all is as after power-on; nothing masters the bus. */
  public void reset() {
    synchronized (this) {
      System.arraycopy(atPowerOn, 0, values, 0, SIZE);
    }
    listener.busMaster(false);
  }

  private void set(int offset, int width, int value) {
    for (int i = 0; i < width; i++) {
      values[offset + i] = (byte) (value >> 8 * i);
    }
  }

  private void mask(int offset, int width, int bits) {
    for (int i = 0; i < width; i++) {
      writable[offset + i] = (byte) (bits >> 8 * i);
    }
  }
}

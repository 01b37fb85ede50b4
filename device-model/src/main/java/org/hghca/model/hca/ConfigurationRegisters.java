package org.hghca.model.hca;

/**
 * The configuration space of the software HCA: a type 0 header with two 64-bit base address
 * registers and a PCI Express capability. Thread-safe.
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

  /** Device capabilities bit 28: function-level reset; device control bit 15 starts it. */
  private static final int CAN_RESET = 1 << 28;

  private static final int START_RESET = 1 << 15;

  /** Class network controller would be 02h; 0207h is its InfiniBand subclass. */
  private static final int CLASS_CODE = 0x02_0700;

  private final byte[] values = new byte[SIZE];
  private final byte[] writable = new byte[SIZE];
  private final boolean canReset;

  /** What software's writes set off. */
  public interface Listener {
    void busMaster(boolean on);

    void resetRequested();
  }

  private final Listener listener;

  public ConfigurationRegisters(long[] barSizes, boolean canReset, Listener listener) {
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
    mask(PCIE_DEVICE_CONTROL, 2, 0x7fff);
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

  /** What a function-level reset does here: nothing may master the bus. */
  public void reset() {
    synchronized (this) {
      set(COMMAND, 2, 0);
      set(PCIE_DEVICE_CONTROL, 2, 0);
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

package org.hghca.vfio;

import java.util.function.Consumer;

/**
 * The configuration space of a function in software, with everything that driver and tools read: a
 * type 0 header with 64-bit base address registers, a PCI Express capability, optionally a serial
 * number with the port's MAC, optionally MSI-X, and capabilities of the vendor. Thread-safe.
 *
 * <pre>
 * 00h  header
 * 40h  PCI Express capability, version 2, 3Ch bytes: an endpoint
 * 80h  MSI-X capability, 0Ch bytes
 * 8Ch  capabilities of the vendor, each from a multiple of 4 on
 * 100h device serial number
 * </pre>
 */
public final class ConfigurationRegisters {
  private static final int COMMAND_NO_INTX = 1 << 10;
  private static final int STATUS_CAPABILITIES = 1 << 4;
  private static final int BAR0 = 0x10;
  private static final int BAR_64_BIT = 0x4;
  private static final int BARS = 6;
  private static final int CAPABILITY_POINTER = 0x34;
  private static final int INTERRUPT_LINE = 0x3c;
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
  private static final int MOST_VECTORS = 2048;
  private static final int VENDOR = 0x8c;
  private static final int VENDOR_ID = 0x09;
  private static final int VENDOR_HEAD = 3;
  private static final int END_OF_CAPABILITIES = 0x100;

  private static final int NO_WINDOW = -1;

  /** Of a window: fields behind its capability's offset. */
  private static final int WINDOW_BAR = 4;

  private static final int WINDOW_OFFSET = 8;
  private static final int WINDOW_LENGTH = 12;
  private static final int WINDOW_DATA = 16;

  /** Message control bit 15: on, bit 14: every vector is masked; bits 10..0 the size minus 1. */
  private static final int MSIX_WRITABLE = 1 << 15 | 1 << 14;

  /** Bits 3..0 speed, 3 for 8 GT/s; bits 9..4 lanes. */
  private static final int LINK = 8 << 4 | 3;

  /** Device capabilities bit 28: function-level reset; device control bit 15 starts it. */
  private static final int CAN_RESET = 1 << 28;

  private static final int START_RESET = 1 << 15;

  private final byte[] atPowerOn;
  private final byte[] values;
  private final byte[] writable;
  private final Consumer<Boolean> onBusMaster;
  private final Window window;

  /** Offset of the window's capability, {@link #NO_WINDOW} without one. */
  private final int windowAt;

  /** Starts a function-level reset; null if the function has none. */
  private final Runnable onReset;

  private ConfigurationRegisters(Builder builder) {
    values = builder.values.clone();
    atPowerOn = values.clone();
    writable = builder.writable.clone();
    onBusMaster = builder.onBusMaster;
    onReset = builder.onReset;
    window = builder.window;
    windowAt = builder.windowAt;
  }

  /**
   * Starts with a function that only has ids.
   *
   * @param vendorId 16 bits, other than FFFFh
   * @param deviceId 16 bits
   * @param classCode base class, subclass and programming interface, 24 bits; 020700h is an
   *     InfiniBand controller, which {@code hghca list} treats as a card
   */
  public static Builder of(int vendorId, int deviceId, int classCode) {
    return new Builder(vendorId, deviceId, classCode);
  }

  /** The registers behind a function's base address registers. */
  public interface Window {
    /** As {@link EmulatedFunction#read}. */
    long read(int bar, long offset, int width);

    /** As {@link EmulatedFunction#write}. */
    void write(int bar, long offset, int width, long value);
  }

  private static final class NoWindow implements Window {
    @Override
    public long read(int bar, long offset, int width) {
      return 0;
    }

    @Override
    public void write(int bar, long offset, int width, long value) {}
  }

  /** Describes a function; call each method once, in any order. */
  public static final class Builder {
    private final byte[] values = new byte[ConfigurationSpace.SIZE];
    private final byte[] writable = new byte[ConfigurationSpace.SIZE];
    private Consumer<Boolean> onBusMaster = on -> {};
    private Runnable onReset;
    private Window window = new NoWindow();
    private int windowAt = NO_WINDOW;

    /** The last capability of the chain, and where the vendor's next one has room. */
    private int last = PCIE;

    private int vendorNext = VENDOR;

    private Builder(int vendorId, int deviceId, int classCode) {
      set(0x00, 4, deviceId << 16 | vendorId);
      set(0x08, 4, classCode << 8);
      set(0x06, 2, STATUS_CAPABILITIES);
      set(0x2c, 4, deviceId << 16 | vendorId);
      set(CAPABILITY_POINTER, 1, PCIE);
      mask(
          ConfigurationSpace.COMMAND,
          2,
          ConfigurationSpace.COMMAND_MEMORY_SPACE
              | ConfigurationSpace.COMMAND_BUS_MASTER
              | COMMAND_NO_INTX);
      mask(INTERRUPT_LINE, 1, 0xff);
      // PCI Express capability (10h), version 2, endpoint; payload of 256 bytes.
      set(PCIE, 4, 0x0002_0010);
      set(PCIE_DEVICE_CAPABILITIES, 4, 1);
      // Relaxed ordering and no-snoop allowed, reads of 512 bytes: the initial values of the
      // specification.
      set(PCIE_DEVICE_CONTROL, 2, 0x2810);
      mask(PCIE_DEVICE_CONTROL, 2, 0x7fff);
      set(PCIE_LINK_CAPABILITIES, 4, LINK);
      set(PCIE_LINK_STATUS, 2, LINK);
      // Completion time-outs can be disabled, as an endpoint of version 2 must support.
      set(PCIE_DEVICE_CAPABILITIES_2, 4, 1 << 4);
      mask(PCIE_DEVICE_CAPABILITIES_2 + 4, 2, 1 << 4);
    }

    /**
     * Adds a region, which takes two base address registers.
     *
     * @param bar 0, 2 or 4
     * @param bytes a power of two from 16 on
     */
    public Builder region(int bar, long bytes) {
      if (bar < 0 || bar > 4 || bar % 2 != 0 || bytes < 16 || Long.bitCount(bytes) != 1) {
        throw new IllegalArgumentException("a region of %d bytes in BAR%d".formatted(bytes, bar));
      }
      set(BAR0 + 4 * bar, 4, BAR_64_BIT);
      mask(BAR0 + 4 * bar, 4, (int) -bytes & ~0xf);
      mask(BAR0 + 4 * bar + 4, 4, (int) (-bytes >> 32));
      return this;
    }

    /**
     * Adds interrupt vectors.
     *
     * @param vectors 1 to 2048
     * @param bar of the region where the table and the pending bits are
     * @param table offset there, a multiple of 8
     * @param pending offset there, a multiple of 8
     */
    public Builder interrupts(int vectors, int bar, int table, int pending) {
      if (vectors < 1 || vectors > MOST_VECTORS || (table | pending) % 8 != 0) {
        throw new IllegalArgumentException(
            "%d vectors, their table at 0x%x, pending bits at 0x%x"
                .formatted(vectors, table, pending));
      }
      set(MSIX, 1, 0x11);
      chain(MSIX);
      set(MSIX_CONTROL, 2, vectors - 1);
      mask(MSIX_CONTROL, 2, MSIX_WRITABLE);
      set(MSIX_TABLE, 4, table | bar);
      set(MSIX_PENDING, 4, pending | bar);
      return this;
    }

    /** Sets the revision, 8 bits; 0 where it is not set. */
    public Builder revision(int revision) {
      set(0x08, 1, revision);
      return this;
    }

    /**
     * Sets the ids of the subsystem, 16 bits each; those of the function where they are not set.
     */
    public Builder subsystem(int vendorId, int id) {
      set(0x2c, 4, id << 16 | vendorId);
      return this;
    }

    /**
     * Adds a capability of the vendor (id 09h). May be called more than once.
     *
     * @param content what follows the capability's length, byte 3 of it first
     * @throws IllegalArgumentException when there is no room
     */
    public Builder vendorCapability(byte... content) {
      int length = VENDOR_HEAD + content.length;
      int at = vendorNext;
      if (at + length > END_OF_CAPABILITIES) {
        throw new IllegalArgumentException(
            "a vendor's capability of %d bytes has no room at 0x%x".formatted(length, at));
      }
      set(at, 1, VENDOR_ID);
      set(at + 2, 1, length);
      System.arraycopy(content, 0, values, at + VENDOR_HEAD, content.length);
      chain(at);
      vendorNext = at + length + 3 & ~3;
      return this;
    }

    /**
     * Adds a capability of the vendor by which software accesses the regions: it sets base address
     * register, offset and length, and reads or writes the data.
     *
     * <pre>
     * 04h base address register     08h offset     0Ch length: 1, 2 or 4     10h data
     * </pre>
     *
     * @param type byte 3 of the capability
     * @param to the regions
     */
    public Builder window(int type, Window to) {
      byte[] content = new byte[WINDOW_DATA + 4 - VENDOR_HEAD];
      content[0] = (byte) type;
      windowAt = vendorNext;
      vendorCapability(content);
      mask(windowAt + WINDOW_BAR, 1, 0xff);
      mask(windowAt + WINDOW_OFFSET, 4, -1);
      mask(windowAt + WINDOW_LENGTH, 4, -1);
      window = to;
      return this;
    }

    private void chain(int capability) {
      set(last + 1, 1, capability);
      last = capability;
    }

    /** Adds a serial number that holds the MAC of the port, 48 bits. */
    public Builder serialNumber(long mac) {
      int[] registers = SerialNumber.registers(mac);
      for (int i = 0; i < registers.length; i++) {
        set(SERIAL_NUMBER + 4 * i, 4, registers[i]);
      }
      return this;
    }

    /**
     * Registers a listener that receives whether the function may start DMA, after each write that
     * may change it.
     */
    public Builder onBusMaster(Consumer<Boolean> listener) {
      onBusMaster = listener;
      return this;
    }

    /**
     * Adds a function-level reset.
     *
     * @param reset starts it, when software requests it; it ends with {@link
     *     ConfigurationRegisters#reset}
     */
    public Builder onReset(Runnable reset) {
      set(PCIE_DEVICE_CAPABILITIES, 4, 1 | CAN_RESET);
      onReset = reset;
      return this;
    }

    public ConfigurationRegisters build() {
      return new ConfigurationRegisters(this);
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

  /**
   * Reads, as {@link EmulatedFunction#readConfiguration} does.
   *
   * @param width 1, 2 or 4 bytes, naturally aligned
   */
  public int read(int offset, int width) {
    if (isWindowData(offset)) {
      WindowAccess access = windowAccess();
      return access.isValid() ? (int) window.read(access.bar, access.offset, access.length) : 0;
    }
    return register(offset, width);
  }

  private synchronized int register(int offset, int width) {
    int value = 0;
    for (int i = 0; i < width; i++) {
      value |= (values[offset + i] & 0xff) << 8 * i;
    }
    return value;
  }

  /** Writes the writable bits, and notifies the listeners of the changes. */
  public void write(int offset, int width, int value) {
    if (isWindowData(offset)) {
      WindowAccess access = windowAccess();
      if (access.isValid()) {
        window.write(access.bar, access.offset, access.length, Integer.toUnsignedLong(value));
      }
      return;
    }
    boolean reset;
    synchronized (this) {
      for (int i = 0; i < width; i++) {
        int keep = values[offset + i] & ~writable[offset + i];
        values[offset + i] = (byte) (keep | value >> 8 * i & writable[offset + i]);
      }
      int shift = 8 * (PCIE_DEVICE_CONTROL - offset);
      long written = Integer.toUnsignedLong(value);
      reset =
          onReset != null
              && offset <= PCIE_DEVICE_CONTROL + 1
              && offset + width > PCIE_DEVICE_CONTROL + 1
              && ((shift >= 0 ? written >> shift : written << -shift) & START_RESET) != 0;
    }
    if (reset) {
      onReset.run();
    } else if (offset <= ConfigurationSpace.COMMAND
        && offset + width > ConfigurationSpace.COMMAND) {
      onBusMaster.accept(isBusMaster());
    }
  }

  /** An access by the window, as its registers have it. */
  private record WindowAccess(int bar, long offset, int length) {
    boolean isValid() {
      return bar < BARS && (length == 1 || length == 2 || length == 4) && offset % length == 0;
    }
  }

  private boolean isWindowData(int offset) {
    return windowAt != NO_WINDOW
        && offset >= windowAt + WINDOW_DATA
        && offset < windowAt + WINDOW_DATA + 4;
  }

  private synchronized WindowAccess windowAccess() {
    return new WindowAccess(
        register(windowAt + WINDOW_BAR, 1),
        Integer.toUnsignedLong(register(windowAt + WINDOW_OFFSET, 4)),
        register(windowAt + WINDOW_LENGTH, 4));
  }

  /** Whether the function may start DMA. */
  public boolean isBusMaster() {
    return (read(ConfigurationSpace.COMMAND, 2) & ConfigurationSpace.COMMAND_BUS_MASTER) != 0;
  }

  /**
   * The effect of a function-level reset on these registers: the state is that after power-on; bus
   * mastering is off.
   */
  public void reset() {
    synchronized (this) {
      System.arraycopy(atPowerOn, 0, values, 0, values.length);
    }
    onBusMaster.accept(false);
  }
}

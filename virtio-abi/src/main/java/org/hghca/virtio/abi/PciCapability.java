package org.hghca.virtio.abi;

/**
 * A vendor-specific capability in PCI configuration space that names a region of registers: "Virtio
 * Structure PCI Capabilities".
 *
 * <pre>
 *       +0       +1       +2       +3
 * 00h | cap_vndr| cap_next| cap_len | cfg_type |
 * 04h | bar     | id      |         -          |
 * 08h |               offset                   |
 * 0Ch |               length                   |
 * 10h |        notify_off_multiplier           |  of {@link #NOTIFY} only
 * </pre>
 */
public final class PciCapability {
  /** Capability id: vendor-specific. */
  public static final int VENDOR_SPECIFIC = 0x09;

  /** Bytes of a capability; that of {@link #NOTIFY} has {@link #NOTIFY_SIZE}. */
  public static final int SIZE = 16;

  /** Bytes of a capability of type {@link #NOTIFY}. */
  public static final int NOTIFY_SIZE = 20;

  /** {@link #VENDOR_SPECIFIC}. */
  public static final Field ID = Field.u8("cap_vndr", 0);

  /** Offset of the next capability in configuration space, 0 for none. */
  public static final Field NEXT = Field.u8("cap_next", 1);

  /** Bytes of this capability. */
  public static final Field LENGTH_OF_CAPABILITY = Field.u8("cap_len", 2);

  /** What the region holds: {@link #COMMON} and so on. */
  public static final Field TYPE = Field.u8("cfg_type", 3);

  /** Base address register, 0 to 5; a driver ignores capabilities with others. */
  public static final Field BAR = Field.u8("bar", 4);

  /** Distinguishes several capabilities of one type. */
  public static final Field INSTANCE = Field.u8("id", 5);

  /** Offset of the region within the BAR, in bytes. */
  public static final Field OFFSET = Field.le32("offset", 8);

  /** Length of the region in bytes. */
  public static final Field LENGTH = Field.le32("length", 12);

  /** Bytes between the notification addresses of queues: 0, or an even power of two. */
  public static final Field NOTIFY_MULTIPLIER = Field.le32("notify_off_multiplier", 16);

  /** Type: {@link CommonConfig}. */
  public static final int COMMON = 1;

  /** Type: notifications. */
  public static final int NOTIFY = 2;

  /** Type: {@link InterruptStatus}. */
  public static final int INTERRUPT_STATUS = 3;

  /** Type: configuration of the device type. */
  public static final int DEVICE = 4;

  /** Type: a window in configuration space onto the BARs. */
  public static final int CONFIGURATION_ACCESS = 5;

  /** Type: shared memory. */
  public static final int SHARED_MEMORY = 8;

  /** Type: of the vendor. */
  public static final int VENDOR = 9;

  private PciCapability() {}
}

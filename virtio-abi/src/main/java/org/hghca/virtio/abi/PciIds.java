package org.hghca.virtio.abi;

/**
 * How a virtio device is recognized in PCI configuration space: "PCI Device Discovery".
 * Transitional devices, with device ids 1000h to 103Fh, are no modern devices: their ids say
 * nothing about the capabilities of this transport.
 */
public final class PciIds {
  /** Vendor id of all virtio devices. */
  public static final int VENDOR = 0x1af4;

  /** Device id of a modern device: this plus the number of its device type. */
  public static final int FIRST_DEVICE = 0x1040;

  /** Number of the device type "network device". */
  public static final int NETWORK_TYPE = 1;

  /** Device id of a modern network device. */
  public static final int NETWORK_DEVICE = FIRST_DEVICE + NETWORK_TYPE;

  /** Class code of a network device: network controller, Ethernet. */
  public static final int NETWORK_CLASS = 0x020000;

  /** The lowest revision id of a modern device. */
  public static final int LEAST_REVISION = 1;

  /** The lowest subsystem device id of a modern device. */
  public static final int LEAST_SUBSYSTEM = 0x40;

  private PciIds() {}
}

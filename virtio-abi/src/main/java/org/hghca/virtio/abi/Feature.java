package org.hghca.virtio.abi;

/** Feature bits that do not depend on the device type: "Reserved Feature Bits". */
public final class Feature {
  /** The device interrupts when a queue is empty; of devices before version 1. */
  public static final int NOTIFY_ON_EMPTY = 24;

  /** Buffers may be split anywhere; of devices before version 1. */
  public static final int ANY_LAYOUT = 27;

  /** A descriptor may refer to a table of descriptors. */
  public static final int INDIRECT_DESC = 28;

  /** Notifications are suppressed by ring index instead of by flag. */
  public static final int EVENT_IDX = 29;

  /** The device follows version 1 of the specification. */
  public static final int VERSION_1 = 32;

  /**
   * The device's accesses to memory are translated, by an IOMMU for instance. A device that offers
   * it may refuse a driver that does not accept it.
   */
  public static final int ACCESS_PLATFORM = 33;

  /** Packed virtqueues. */
  public static final int RING_PACKED = 34;

  /** The device uses buffers in the order in which they were made available. */
  public static final int IN_ORDER = 35;

  /** Memory accesses need the barriers of the platform, as those of a device in hardware. */
  public static final int ORDER_PLATFORM = 36;

  /** The function can have virtual functions. */
  public static final int SR_IOV = 37;

  /** A notification carries 32 bits. */
  public static final int NOTIFICATION_DATA = 38;

  /** A notification carries {@link CommonConfig#NOTIFY_DATA}. */
  public static final int NOTIF_CONFIG_DATA = 39;

  /** A queue can be reset on its own. */
  public static final int RING_RESET = 40;

  /** There are administration queues. */
  public static final int ADMIN_VQ = 41;

  private Feature() {}

  /** The mask of a feature bit, 0 to 63. */
  public static long mask(int bit) {
    return 1L << bit;
  }

  /** The specification's name of a bit, or {@code "bit 17"} for one of a device type. */
  public static String name(int bit) {
    return switch (bit) {
      case NOTIFY_ON_EMPTY -> "VIRTIO_F_NOTIFY_ON_EMPTY";
      case ANY_LAYOUT -> "VIRTIO_F_ANY_LAYOUT";
      case INDIRECT_DESC -> "VIRTIO_F_INDIRECT_DESC";
      case EVENT_IDX -> "VIRTIO_F_EVENT_IDX";
      case VERSION_1 -> "VIRTIO_F_VERSION_1";
      case ACCESS_PLATFORM -> "VIRTIO_F_ACCESS_PLATFORM";
      case RING_PACKED -> "VIRTIO_F_RING_PACKED";
      case IN_ORDER -> "VIRTIO_F_IN_ORDER";
      case ORDER_PLATFORM -> "VIRTIO_F_ORDER_PLATFORM";
      case SR_IOV -> "VIRTIO_F_SR_IOV";
      case NOTIFICATION_DATA -> "VIRTIO_F_NOTIFICATION_DATA";
      case NOTIF_CONFIG_DATA -> "VIRTIO_F_NOTIF_CONFIG_DATA";
      case RING_RESET -> "VIRTIO_F_RING_RESET";
      case ADMIN_VQ -> "VIRTIO_F_ADMIN_VQ";
      default -> "bit " + bit;
    };
  }
}

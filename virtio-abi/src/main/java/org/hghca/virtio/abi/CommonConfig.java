package org.hghca.virtio.abi;

/**
 * The registers common to all devices: "Common configuration structure layout". An access has the
 * width of its field; a field of eight bytes is accessed as two of four.
 */
public final class CommonConfig {
  /** Bytes that every device has; the fields from {@link #NOTIFY_DATA} on are later additions. */
  public static final int SIZE = 56;

  /** Which 32 feature bits {@link #DEVICE_FEATURE} shows: 0 for bits 0 to 31, 1 for 32 to 63. */
  public static final Field DEVICE_FEATURE_SELECT = Field.le32("device_feature_select", 0);

  /** Features that the device offers; read-only. */
  public static final Field DEVICE_FEATURE = Field.le32("device_feature", 4);

  /** Which 32 feature bits {@link #DRIVER_FEATURE} shows. */
  public static final Field DRIVER_FEATURE_SELECT = Field.le32("driver_feature_select", 8);

  /** Features that the driver accepts. */
  public static final Field DRIVER_FEATURE = Field.le32("driver_feature", 12);

  /** Interrupt vector for changes of the configuration. */
  public static final Field CONFIG_VECTOR = Field.le16("config_msix_vector", 16);

  /** Largest number of virtqueues; read-only. */
  public static final Field NUM_QUEUES = Field.le16("num_queues", 18);

  /** {@link DeviceStatus}. Writing 0 resets the device. */
  public static final Field DEVICE_STATUS = Field.u8("device_status", 20);

  /** Changes whenever the configuration of the device changes; read-only. */
  public static final Field CONFIG_GENERATION = Field.u8("config_generation", 21);

  /** The queue to which the following fields belong. */
  public static final Field QUEUE_SELECT = Field.le16("queue_select", 22);

  /** Entries of the queue; 0 where there is no queue. The driver may reduce it. */
  public static final Field QUEUE_SIZE = Field.le16("queue_size", 24);

  /** Interrupt vector of the queue. */
  public static final Field QUEUE_VECTOR = Field.le16("queue_msix_vector", 26);

  /** Written with 1, the device may use the queue; reads 0 until then. */
  public static final Field QUEUE_ENABLE = Field.le16("queue_enable", 28);

  /** Place of the queue's notification, in units of the multiplier; read-only. */
  public static final Field QUEUE_NOTIFY_OFF = Field.le16("queue_notify_off", 30);

  /** Bus address of the descriptors. */
  public static final Field QUEUE_DESC = Field.le64("queue_desc", 32);

  /** Bus address of the available ring. */
  public static final Field QUEUE_DRIVER = Field.le64("queue_driver", 40);

  /** Bus address of the used ring. */
  public static final Field QUEUE_DEVICE = Field.le64("queue_device", 48);

  /** Data of a notification, with {@link Feature#NOTIF_CONFIG_DATA}; read-only. */
  public static final Field NOTIFY_DATA = Field.le16("queue_notif_config_data", 56);

  /**
   * Written with 1, resets the queue, and reads 1 until that ended, with {@link
   * Feature#RING_RESET}.
   */
  public static final Field QUEUE_RESET = Field.le16("queue_reset", 58);

  /** First administration queue, with {@link Feature#ADMIN_VQ}; read-only. */
  public static final Field ADMIN_QUEUE_INDEX = Field.le16("admin_queue_index", 60);

  /** Number of administration queues, with {@link Feature#ADMIN_VQ}; read-only. */
  public static final Field ADMIN_QUEUE_NUM = Field.le16("admin_queue_num", 62);

  /** Value of a vector register: no vector. It reads so, too, when the device refused a vector. */
  public static final int NO_VECTOR = 0xffff;

  /** The largest size of a split virtqueue. */
  public static final int LARGEST_QUEUE = 32768;

  private CommonConfig() {}
}

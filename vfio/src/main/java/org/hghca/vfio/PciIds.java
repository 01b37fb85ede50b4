package org.hghca.vfio;

/**
 * What kind of device a function is, by its configuration space.
 *
 * @param vendor 16 bits
 * @param device 16 bits
 */
public record PciIds(int vendor, int device) {
  private static final int VIRTIO_VENDOR = 0x1af4;
  private static final int VIRTIO_DEVICES = 0x10;

  /** Reads them; all ones for a function that is gone. */
  public static PciIds of(ConfigurationSpace configuration) {
    return new PciIds(configuration.vendorId(), configuration.deviceId());
  }

  /** Whether it is a virtio device: 1af4:1000 to 1af4:10ff (virtio 1.2, 4.1.2). */
  public boolean isVirtio() {
    return vendor == VIRTIO_VENDOR && device >> 8 == VIRTIO_DEVICES;
  }

  /** Such as {@code 10ee:9038}. */
  @Override
  public String toString() {
    return "%04x:%04x".formatted(vendor, device);
  }
}

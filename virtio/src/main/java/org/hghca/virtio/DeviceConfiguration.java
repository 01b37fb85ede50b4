package org.hghca.virtio;

import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/** The configuration of a device's type, as one consistent reading of it sees it. */
public interface DeviceConfiguration {

  /** Bytes of the configuration; a device may have more than its fields fill. */
  long size();

  /**
   * Reads a field in one access.
   *
   * @return the value, zero-extended
   * @throws IndexOutOfBoundsException when the configuration is too short for it
   */
  long get(Field field);

  /**
   * Reads bytes.
   *
   * @throws IndexOutOfBoundsException when the configuration is too short for them
   */
  byte[] get(Bytes bytes);
}

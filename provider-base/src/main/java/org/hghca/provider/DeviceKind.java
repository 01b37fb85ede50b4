package org.hghca.provider;

import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;

/**
 * What a provider does with devices of its kind.
 *
 * @param <D> a device that is brought up
 */
public interface DeviceKind<D> {

  /** What its devices' names start with, such as {@code hghca}; a number follows. */
  String prefix();

  /**
   * Brings a device up.
   *
   * @param function belongs to the device from here on, also when this fails
   * @throws org.hghca.verbs.VerbsException naming the step that failed
   */
  D bringUp(PciFunction function);

  /**
   * Opens a context of a device.
   *
   * @param onClose lets go of the device
   */
  Context context(RdmaDevice name, D device, Runnable onClose);

  /** Shuts a device down and releases it. It has no contexts any more. */
  void close(D device);
}

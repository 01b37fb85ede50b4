package org.hghca.provider;

import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/**
 * What a provider does with devices of its kind.
 *
 * @param <D> a device that is brought up
 */
public interface DeviceKind<D> {

  /** What its devices' names start with, such as {@code hghca}; a number follows. */
  String prefix();

  /**
   * Whether a function is of this kind. No function is of two.
   *
   * @param ids read from its configuration space, the only access before this
   */
  boolean claims(PciIds ids);

  /**
   * Whether a function has a name of this kind.
   *
   * @param ids empty when they are not known before it is opened
   */
  boolean names(Optional<PciIds> ids);

  /**
   * Brings a device up.
   *
   * @param function one that it claims; it belongs to the device from here on, also when this fails
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

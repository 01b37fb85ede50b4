package org.hghca.provider;

import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/**
 * Drives PCI functions of one kind beneath the verbs. Found with {@link java.util.ServiceLoader} by
 * {@link FunctionProvider}, which opens a function once and gives it to the driver that claims it.
 */
public interface DeviceDriver {

  /** What the names of its devices start with, such as {@code hghca}; a number follows. */
  String prefix();

  /**
   * Whether a function is of this kind. No two drivers claim the same.
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
  Device bringUp(PciFunction function);

  /** A device that is brought up. */
  interface Device {

    /**
     * Opens a context.
     *
     * @param onClose releases the device
     */
    Context context(RdmaDevice name, Runnable onClose);

    /** Shuts the device down and closes its function. It has no contexts any more. */
    void close();
  }
}

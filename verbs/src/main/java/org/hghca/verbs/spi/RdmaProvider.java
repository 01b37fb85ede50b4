package org.hghca.verbs.spi;

import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;

/**
 * Brings a kind of device to the verbs. Found with {@link java.util.ServiceLoader}. Thread-safe.
 */
public interface RdmaProvider {

  /** The devices that this provider finds, in the order of their names. */
  List<RdmaDevice> devices();

  /**
   * Opens a device of this provider.
   *
   * @param nameOrLocator a name of {@link #devices}, or a locator
   * @return empty when the name is not one of this provider's
   * @throws org.hghca.verbs.VerbsException when the device is there but cannot be opened
   */
  Optional<Context> open(String nameOrLocator);
}

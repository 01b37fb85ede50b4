package org.hghca.vfio;

import java.util.List;
import java.util.Optional;

/**
 * A backend that opens functions of one locator scheme. Providers are found with {@link
 * java.util.ServiceLoader}, so that a backend can be added from outside. Thread-safe.
 */
public interface PciFunctionProvider {

  /** The scheme of the locators that this backend opens, such as {@code pci}. */
  String scheme();

  /** The functions that this backend finds by itself; empty when there are none. */
  List<Locator> enumerate();

  /**
   * The locator under which a function is known, for one that only selects it: the same function
   * has one such locator, whatever the user wrote.
   *
   * @throws VfioException naming what is wrong with it
   */
  default Locator resolve(Locator locator) {
    return locator;
  }

  /**
   * The address of a function's port, where it is known without opening it: empty when {@link
   * LinkAddress#of(PciFunction)} may answer something else.
   */
  default Optional<LinkAddress> address(Locator locator) {
    return locator.parameter("mac").map(mac -> LinkAddress.of(locator));
  }

  /**
   * Takes ownership of a function.
   *
   * @throws VfioException naming what is missing and the fix
   */
  PciFunction open(Locator locator);
}

package org.hghca.vfio;

import java.util.List;
import java.util.Optional;

/**
 * A backend that opens functions of one locator scheme. Providers are found with {@link
 * java.util.ServiceLoader}, so that external backends can be added. Thread-safe.
 */
public interface PciFunctionProvider {

  /** The scheme of the locators that this backend opens, such as {@code pci}. */
  String scheme();

  /** The functions that this backend discovers; empty when there are none. */
  List<Locator> enumerate();

  /**
   * The canonical locator of a function, for a locator that selects it: each function has one,
   * independent of what the user wrote.
   *
   * @throws VfioException saying what is wrong with the locator
   */
  default Locator resolve(Locator locator) {
    return locator;
  }

  /**
   * The address of a function's port, if it is known without opening it: empty if {@link
   * LinkAddress#of(PciFunction)} may return another one.
   */
  default Optional<LinkAddress> address(Locator locator) {
    return locator.parameter("mac").map(mac -> LinkAddress.of(locator));
  }

  /**
   * What the function of a canonical locator is, if it is known without opening it. It need not be
   * there.
   */
  default Optional<PciIds> ids(Locator locator) {
    return Optional.empty();
  }

  /**
   * Takes ownership of a function.
   *
   * @throws VfioException naming the missing part and the fix
   */
  PciFunction open(Locator locator);
}

package org.hghca.vfio;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** Finds and opens PCI functions through whatever backends are present. Thread-safe. */
public final class PciFunctions {

  private PciFunctions() {}

  /** Every function that some backend finds by itself, in the order of their locators. */
  public static List<Locator> enumerate() {
    List<Locator> found = new ArrayList<>();
    for (PciFunctionProvider provider : ServiceLoader.load(PciFunctionProvider.class)) {
      found.addAll(provider.enumerate());
    }
    found.sort(null);
    return found;
  }

  /**
   * Takes ownership of a function.
   *
   * @throws VfioException {@code NOT_FOUND} when no backend knows the scheme; else what the backend
   *     says
   */
  public static PciFunction open(Locator locator) {
    for (PciFunctionProvider provider : ServiceLoader.load(PciFunctionProvider.class)) {
      if (provider.scheme().equals(locator.scheme())) {
        return provider.open(locator);
      }
    }
    throw new VfioException(
        VfioException.Reason.NOT_FOUND,
        "no backend for locator '%s': known schemes are %s; is the backend's jar on the module path?"
            .formatted(locator, schemes()));
  }

  private static String schemes() {
    return ServiceLoader.load(PciFunctionProvider.class).stream()
        .map(provider -> provider.get().scheme() + ":")
        .sorted()
        .collect(Collectors.joining(", "));
  }
}

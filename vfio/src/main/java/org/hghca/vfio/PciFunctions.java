package org.hghca.vfio;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.hghca.vfio.trace.DeviceTrace;

/** Finds and opens PCI functions through all available backends. Thread-safe. */
public final class PciFunctions {

  private PciFunctions() {}

  /** All functions that the backends discover, ordered by locator. */
  public static List<Locator> enumerate() {
    List<Locator> found = new ArrayList<>();
    for (PciFunctionProvider provider : ServiceLoader.load(PciFunctionProvider.class)) {
      found.addAll(provider.enumerate());
    }
    found.sort(null);
    return found;
  }

  /** Whether its backend discovers the function of a canonical locator; looks at no other's. */
  public static boolean isEnumerated(Locator locator) {
    return provider(locator).filter(found -> found.enumerate().contains(locator)).isPresent();
  }

  /**
   * The canonical locator of the function that a locator selects; a locator with an unknown scheme
   * is returned unchanged.
   *
   * @throws VfioException as the backend reports it
   */
  public static Locator resolve(Locator locator) {
    return provider(locator).map(provider -> provider.resolve(locator)).orElse(locator);
  }

  /** The address of a function's port, if it is known without opening it. */
  public static Optional<LinkAddress> address(Locator locator) {
    return provider(locator).flatMap(provider -> provider.address(locator));
  }

  /** What the function of a canonical locator is, if it is known without opening it. */
  public static Optional<PciIds> ids(Locator locator) {
    return provider(locator).flatMap(provider -> provider.ids(locator));
  }

  /**
   * Takes ownership of a function.
   *
   * @throws VfioException {@code NOT_FOUND} when no backend knows the scheme, {@code INVALID} when
   *     more than one does; else as the backend reports it
   */
  public static PciFunction open(Locator locator) {
    PciFunctionProvider provider =
        provider(locator)
            .orElseThrow(
                () ->
                    new VfioException(
                        VfioException.Reason.NOT_FOUND,
                        "no backend for locator '%s': known schemes are %s; is the backend's jar on"
                                .formatted(locator, schemes())
                            + " the module path, or named by --plugin?"));
    return TracedFunction.open(provider, locator);
  }

  /**
   * Where what is seen of a function's device is recorded, while its trace is open: from the open
   * to the close of the function, or longer if somebody else has the file open.
   */
  public static Optional<DeviceTrace> trace(Locator locator) {
    return TracedFunction.trace(locator);
  }

  private static Optional<PciFunctionProvider> provider(Locator locator) {
    List<PciFunctionProvider> providers =
        ServiceLoader.load(PciFunctionProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(provider -> provider.scheme().equals(locator.scheme()))
            .toList();
    if (providers.size() > 1) {
      throw new VfioException(
          VfioException.Reason.INVALID,
          "more than one backend opens %s: %s; remove all but one"
              .formatted(
                  locator,
                  providers.stream()
                      .map(provider -> provider.getClass().getName())
                      .collect(Collectors.joining(", "))));
    }
    return providers.stream().findFirst();
  }

  private static String schemes() {
    return ServiceLoader.load(PciFunctionProvider.class).stream()
        .map(provider -> provider.get().scheme() + ":")
        .sorted()
        .collect(Collectors.joining(", "));
  }
}

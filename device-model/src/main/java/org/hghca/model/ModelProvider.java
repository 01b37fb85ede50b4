package org.hghca.model;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.InProcessFunction;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Opens software HCAs in this process: {@code model:NAME?key=value&...}. Thread-safe.
 *
 * <ul>
 *   <li>{@code profile=s}: which reading of the card; s is the one there is.
 *   <li>{@code cable=NAME}: the cable its port is plugged into. Two HCAs of one simulation that
 *       name the same cable are joined. Without one only its own queue pairs reach each other.
 *   <li>{@code mac=, ip=}: its addresses, see {@link LinkAddress}.
 *   <li>{@code mode=threaded}, the default: it joins the simulation of this process, which follows
 *       the system's clock. {@code mode=inline}: a simulation of its own, which does everything on
 *       the calling thread and whose time stands still.
 *   <li>{@code sim=NAME}: it joins the {@link Simulation} of that name.
 *   <li>{@code reset=none}: it has no function-level reset.
 *   <li>{@code interrupts=msix}, the default: one interrupt vector for each event queue. {@code
 *       interrupts=none}: event queues, but no interrupts.
 *   <li>{@code events=eq}, the default, or {@code events=poll}: how the driver is to learn of
 *       completions; nothing to the software HCA.
 * </ul>
 */
public final class ModelProvider implements PciFunctionProvider {
  private static final Set<String> PARAMETERS =
      new TreeSet<>(
          List.of("profile", "cable", "mac", "ip", "mode", "sim", "reset", "interrupts", "events"));
  private static final String INLINE = "inline";
  private static final String THREADED = "threaded";
  private static final String MSIX = "msix";

  /** What is open; an HCA that is about to be made holds its place with an empty value. */
  private static final Map<Locator, Optional<SoftwareHca>> OPEN = new ConcurrentHashMap<>();

  /** Used by the service loader. */
  public ModelProvider() {}

  @Override
  public String scheme() {
    return "model";
  }

  /** None: no card is there unless somebody asks for one. */
  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    for (String parameter : locator.parameters().keySet()) {
      if (!PARAMETERS.contains(parameter)) {
        throw new VfioException(
            Reason.INVALID,
            "locator '%s': unknown parameter '%s'; known are %s"
                .formatted(locator, parameter, String.join(", ", PARAMETERS)));
      }
    }
    HardwareProfile profile = profile(locator);
    boolean canReset = value(locator, "reset", "function", "function", "none").equals("function");
    boolean interrupts = value(locator, "interrupts", MSIX, MSIX, "none").equals(MSIX);
    value(locator, "events", "eq", "eq", "poll");
    LinkAddress address = LinkAddress.of(locator);
    Simulation simulation = simulation(locator);
    if (OPEN.putIfAbsent(locator, Optional.empty()) != null) {
      throw new VfioException(
          Reason.BUSY,
          "'%s' is open: close it first, or give the other one a name of its own"
              .formatted(locator));
    }
    try {
      SoftwareHca hca =
          new SoftwareHca(
              locator.name(),
              profile,
              address,
              simulation,
              locator.parameter("cable"),
              canReset,
              interrupts,
              () -> OPEN.remove(locator));
      OPEN.put(locator, Optional.of(hca));
      return InProcessFunction.connect(locator, hca);
    } catch (RuntimeException | Error e) {
      OPEN.remove(locator);
      throw e;
    }
  }

  /** The open HCA of a locator, for those who want to see it from inside. */
  public static Optional<SoftwareHca> hca(Locator locator) {
    return OPEN.getOrDefault(locator, Optional.empty());
  }

  private static HardwareProfile profile(Locator locator) {
    String name = value(locator, "profile", "s", "s", "r1", "r2");
    if (!name.equals(HardwareProfile.S.name())) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "locator '%s': the software HCA does not play profile %s, only s"
              .formatted(locator, name));
    }
    return HardwareProfile.S;
  }

  private static Simulation simulation(Locator locator) {
    String mode =
        locator.parameter("mode").isPresent() ? value(locator, "mode", "", THREADED, INLINE) : null;
    if (locator.parameter("sim").isPresent()) {
      Simulation simulation = Simulation.named(locator.parameter("sim").get());
      if (mode != null && simulation.isInline() != mode.equals(INLINE)) {
        throw new VfioException(
            Reason.INVALID,
            "locator '%s': simulation '%s' is not %s"
                .formatted(locator, locator.parameter("sim").get(), mode));
      }
      return simulation;
    }
    return INLINE.equals(mode) ? Simulation.unnamed() : Simulation.shared();
  }

  private static String value(Locator locator, String key, String absent, String... known) {
    String value = locator.parameter(key).orElse(absent);
    if (!List.of(known).contains(value)) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is unknown; known are %s"
              .formatted(locator, key, value, String.join(", ", known)));
    }
    return value;
  }
}

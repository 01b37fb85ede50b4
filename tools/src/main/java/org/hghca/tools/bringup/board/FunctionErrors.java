package org.hghca.tools.bringup.board;

import java.util.Optional;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.raw.PciErrors;
import org.hghca.vfio.ConfigurationSpace;

/** The errors that a function reports while its driver has it. One thread at a time. */
public final class FunctionErrors {
  private Optional<ConfigurationSpace> space = Optional.empty();
  private PciErrors before = PciErrors.NONE;
  private PciErrors found = PciErrors.NONE;

  /**
   * The driver has opened the function. What it reports already counts for nothing.
   *
   * @param of the function; empty where it cannot be read beside the driver
   */
  void begin(Optional<ConfigurationSpace> of) {
    space = of;
    before = of.map(PciErrors::of).orElse(PciErrors.NONE);
  }

  /** Looks at the function, before the driver closes or resets it. */
  void look() {
    found = space.map(PciErrors::of).map(now -> found.and(now.since(before))).orElse(found);
  }

  /** A step fails with severe ones, and warns of others. */
  public static void check(Observation o, PciErrors errors) {
    String what = "the function reports %s".formatted(errors.text());
    o.check(!errors.isSevere(), what);
    if (!errors.names().isEmpty()) {
      o.warn(what);
    }
  }

  /** Those of all looks; empty where the function cannot be read. */
  Optional<PciErrors> found() {
    return space.map(_ -> found);
  }
}

package org.hghca.driver.card;

import java.util.Optional;
import org.hghca.abi.Hcr;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/**
 * Whether a function is still present. One that was unplugged, or whose server has ended, reads all
 * ones; accesses to its registers fault, which the JVM reports as an {@link InternalError} if they
 * are mapped, and the function as a {@link VfioException} if they are emulated. Thread-safe.
 */
public final class DevicePresence {
  private static final int GONE = -1;

  private final PciFunction function;
  private final MmioRegion registers;
  private final long command;

  /** For a function with the HCR at an offset in BAR0. */
  public DevicePresence(PciFunction function, long hcrBase) {
    this.function = function;
    this.registers = function.region(0);
    this.command = hcrBase + Hcr.COMMAND;
  }

  /**
   * Reads one register, which disturbs no command.
   *
   * @return why the function is regarded as gone; empty if it is present
   */
  public Optional<String> complaint() {
    try {
      if (registers.readInt(command) != GONE) {
        return Optional.empty();
      }
    } catch (InternalError | VfioException e) {
      return Optional.of(reason("its registers fault (%s)".formatted(e.getMessage())));
    }
    return Optional.of(reason("its registers read all ones"));
  }

  /** The observation, with the function's own reason. */
  public String reason(String seen) {
    try {
      var _ = function.interrupts(); // throws when the function knows that it is gone
      return seen + ": it is gone";
    } catch (VfioException e) {
      return "%s: %s".formatted(seen, e.getMessage());
    }
  }
}

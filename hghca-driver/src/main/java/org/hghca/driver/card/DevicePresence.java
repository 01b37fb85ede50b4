package org.hghca.driver.card;

import java.util.Optional;
import org.hghca.abi.Hcr;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/**
 * Whether a function is still there. One that was unplugged, or whose server has ended, reads all
 * ones; registers of it fault, which the JVM reports as an {@link InternalError} where they are
 * mapped, and the function as a {@link VfioException} where somebody serves them. Thread-safe.
 */
public final class DevicePresence {
  private static final int GONE = -1;

  private final PciFunction function;
  private final MmioRegion registers;
  private final long command;

  /** Of a function whose HCR is at an offset of BAR0. */
  public DevicePresence(PciFunction function, long hcrBase) {
    this.function = function;
    this.registers = function.region(0);
    this.command = hcrBase + Hcr.COMMAND;
  }

  /**
   * Reads one register, which disturbs no command.
   *
   * @return why the function is taken for gone; empty when it is there
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

  /** What was seen, with what the function itself knows of it. */
  public String reason(String seen) {
    try {
      var _ = function.interrupts(); // throws when the function knows that it is gone
      return seen + ": it is gone";
    } catch (VfioException e) {
      return "%s: %s".formatted(seen, e.getMessage());
    }
  }
}

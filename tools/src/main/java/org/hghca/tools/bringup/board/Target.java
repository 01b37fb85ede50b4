package org.hghca.tools.bringup.board;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;

/** The function of a session, while its registers are driven without the driver of the verbs. */
public interface Target {
  /** A key that no memory has. */
  int NO_KEY = 0x00f1_f1f1;

  /** The data path works as far as it can be seen without a loop. */
  String NO_LOOP =
      "no message came back: there is no loop, or nothing is sent or received. Plug a loop or name"
          + " a peer with --loop";

  /** Why nothing is known of refused accesses. */
  String UNREPORTED =
      "this platform does not report refused accesses to memory: see the faults of the IOMMU in the"
          + " system's log";

  BringupOptions options();

  /** How the steps wait for the device. */
  Waits waits();

  /** Which function it is. */
  default Locator locator() {
    return Locator.parse(options().device());
  }

  /** Takes the function from the system. */
  void open();

  /** The function; null before it is open. */
  PciFunction function();

  /** Whether the function can be reset; known once it was open. */
  boolean canReset();

  /** Whether the user has said that a device without a reset is in its initial state. */
  default boolean isAssumedClean() {
    return locator()
        .parameter(DriverParameter.ASSUME_CLEAN.key())
        .map(Boolean::parseBoolean)
        .orElse(false);
  }

  /** The function of a card while it is open without the driver; empty otherwise. */
  default Optional<TappedFunction> tapped() {
    return Optional.empty();
  }

  /** Where the command register of a card is in BAR0; empty before that is known. */
  default OptionalInt hcrBase() {
    return OptionalInt.empty();
  }

  /** How long after the end of a command its answer may come; zero on a device that is right. */
  default Duration settle() {
    return Duration.ZERO;
  }

  /** What the device is known to do; null before that is known. */
  Abilities abilities();

  /** Whether a message came back without the driver. */
  default boolean isLooped() {
    return false;
  }

  /** The commands given since the last call. */
  List<CommandRecord> takeCommands();

  /** Stops the device and releases everything that exists. */
  void close();
}

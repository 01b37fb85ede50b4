package org.hghca.programs.peer;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.Context;
import org.hghca.verbs.PortState;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;
import org.hghca.vfio.VfioException;

/** A device whose port is active: a network takes its time. */
public final class ReadyDevice {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int PORT = 1;

  private ReadyDevice() {}

  /**
   * Opens a device, and waits a little for its port.
   *
   * @param device its name or locator
   * @throws VerbsException when it cannot be opened
   */
  public static Context open(String device) {
    Context context = RdmaDevices.open(device);
    try {
      awaitPort(context);
      return context;
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /** The clock for waits for a device; devices of other providers are cards. */
  public static TimeScale timeOf(Context context) {
    try {
      return TimeScale.of(Locator.parse(context.device().locator()));
    } catch (VfioException _) {
      return TimeScale.CARD; // no function of a bus
    }
  }

  /** Waits a little for the port of an opened device. */
  public static void awaitPort(Context context) {
    Instant end = Instant.now().plus(PATIENCE);
    try {
      Duration left = PATIENCE;
      while (context.queryPort(PORT).state() != PortState.ACTIVE && left.isPositive()) {
        Optional<AsyncEvent> _ = context.asyncEvents().await(left);
        left = Duration.between(Instant.now(), end);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}

package org.hghca.driver.bringup;

import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maximum number of outstanding requests of one queue pair on a card: the safe number, or {@code
 * outstanding} of the locator, at the user's risk.
 */
public final class RequestWindow {
  private static final Logger LOG = LoggerFactory.getLogger(RequestWindow.class);

  private RequestWindow() {}

  /**
   * Reads a locator.
   *
   * @return {@link HardwareProfile#UNBOUNDED} for a card without a limit, independent of the
   *     locator
   * @throws VerbsException EINVAL unless it is a number from 1 to the card's doorbell limit
   */
  public static int of(Locator locator, HardwareProfile profile) {
    int safe = profile.requestsOutstanding();
    String text = locator.parameter(DriverParameter.OUTSTANDING.key()).orElse(null);
    if (text == null) {
      return safe;
    }
    int most = profile.doorbellsInFlight();
    int number = number(text);
    if (number < 1 || number > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s: outstanding=%s must be a number from 1 to %d".formatted(locator, text, most));
    }
    if (number > safe) {
      LOG.warn(
          "{}: up to {} requests of a queue pair at a time, where {} is safe: this card can lose"
              + " completions",
          locator,
          number,
          safe);
    }
    return safe == HardwareProfile.UNBOUNDED ? safe : number;
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}

package org.hghca.driver.rtl;

import org.hghca.abi.HardwareProfile;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;

/**
 * The parameters of a locator that only the RTL needs: how many requests may be in flight, the safe
 * numbers or others at the user's risk, and whether queue pairs pass the PSN wrap.
 *
 * @param outstanding maximum number of outstanding requests of one queue pair
 * @param inFlight maximum number of requests in flight of all queue pairs
 * @param carriesPsns whether queue pairs help each other over the PSN wrap
 */
public record RtlOptions(int outstanding, int inFlight, boolean carriesPsns) {
  private static final ConditionLog LOG = ConditionLog.of(RtlOptions.class);

  /**
   * Reads the locator of any card.
   *
   * @return {@link HardwareProfile#UNBOUNDED} for a card without limits, independent of the locator
   * @throws VerbsException EINVAL unless {@code inflight} is a number from 1 to the card's doorbell
   *     limit, {@code outstanding} one from 1 to {@code inflight}, and {@code wrap} on or off
   */
  public static RtlOptions of(Locator locator, HardwareProfile profile) {
    int inFlight =
        number(
            locator,
            DriverParameter.IN_FLIGHT,
            profile.requestsInFlight(),
            profile.doorbellsInFlight(),
            "requests in flight on the whole card");
    int outstanding =
        number(
            locator,
            DriverParameter.OUTSTANDING,
            profile.requestsOutstanding(),
            inFlight,
            "requests of a queue pair at a time");
    return new RtlOptions(outstanding, inFlight, carriesPsns(locator, profile));
  }

  private static int number(
      Locator locator, DriverParameter parameter, int safe, int most, String what) {
    String text = locator.parameter(parameter.key()).orElse(null);
    if (text == null) {
      return safe;
    }
    int number = number(text);
    if (number < 1 || number > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s: %s=%s must be a number from 1 to %d"
              .formatted(locator, parameter.key(), text, most));
    }
    if (number > safe) {
      LOG.warn(
          About.device(locator),
          "up to {} {}, where {} is safe: this card can lose completions, or stop",
          number,
          what,
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

  /** On a card that needs it and can. */
  private static boolean carriesPsns(Locator locator, HardwareProfile profile) {
    String text = locator.parameter(DriverParameter.WRAP.key()).orElse("on");
    if (!text.equals("on") && !text.equals("off")) {
      throw new VerbsException(
          Errno.EINVAL, "%s: wrap=%s must be on or off".formatted(locator, text));
    }
    return !profile.psnWraps() && profile.readsCrossPsnWrap() && text.equals("on");
  }
}

package org.hghca.vfio.user;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The options for the client in a locator.
 *
 * @param limit {@code timeout}: how long the server may take for a reply, an ISO 8601 duration; 10
 *     seconds of the card's time by default
 * @param posted {@code posted}: whether registers are written without asking for a reply
 * @param ring {@code ring}: whether they are written through memory that the server shares, where
 *     it knows of that and no reply is asked for
 */
record UserOptions(Duration limit, boolean posted, boolean ring) {
  private static final String TIMEOUT = "timeout";
  private static final String POSTED = "posted";
  private static final String RING = "ring";

  /**
   * Reads a locator.
   *
   * @throws VfioException {@code INVALID} naming the parameter that cannot be understood
   */
  static UserOptions of(Locator locator) {
    locator.checkParameters(List.of(TIMEOUT, POSTED, RING));
    Duration limit =
        locator
            .parameter(TIMEOUT)
            .map(text -> duration(locator, text))
            .orElseGet(() -> TimeScale.of(locator).stretch(UserTimeouts.SERVER));
    return new UserOptions(limit, isTrue(locator, POSTED), isTrue(locator, RING));
  }

  private static boolean isTrue(Locator locator, String key) {
    String text = locator.parameter(key).orElse("true");
    if (!text.equals("true") && !text.equals("false")) {
      throw wrong(locator, key, "known are true and false", null);
    }
    return text.equals("true");
  }

  private static Duration duration(Locator locator, String text) {
    try {
      Duration limit = Duration.parse(text);
      if (limit.isPositive() && limit.compareTo(Duration.ofDays(1)) <= 0) {
        return limit;
      }
    } catch (DateTimeParseException e) {
      throw wrongLimit(locator, e);
    }
    throw wrongLimit(locator, null);
  }

  private static VfioException wrongLimit(Locator locator, Throwable cause) {
    return wrong(
        locator, TIMEOUT, "it must be a duration of up to a day, such as PT10S or PT0.5S", cause);
  }

  private static VfioException wrong(Locator locator, String key, String fix, Throwable cause) {
    return new VfioException(
        Reason.INVALID,
        "%s: %s=%s is invalid: %s".formatted(locator, key, locator.parameter(key).orElse(""), fix),
        cause);
  }
}

package org.hghca.model;

import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** Parameters of a locator as values; a wrong one is {@code INVALID}. */
final class LocatorValues {
  private LocatorValues() {}

  /** The value of a parameter, which must be one of a few. */
  static String value(Locator locator, String key, String absent, String... known) {
    String value = locator.parameter(key).orElse(absent);
    if (!List.of(known).contains(value)) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is unknown; known are %s"
              .formatted(locator, key, value, String.join(", ", known)));
    }
    return value;
  }

  /** The value of a parameter that is a whole number of a range. */
  static int whole(Locator locator, String key, int absent, int least, int most) {
    int value = number(locator, key, Integer::parseInt, "a whole number").orElse(absent);
    if (value < least || value > most) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%d must be from %d to %d".formatted(locator, key, value, least, most));
    }
    return value;
  }

  /** The value of a parameter as a parser reads it. */
  static <T> Optional<T> number(
      Locator locator, String key, Function<String, T> parser, String expected) {
    String text = locator.parameter(key).orElse(null);
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parser.apply(text));
    } catch (NumberFormatException | DateTimeParseException e) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is not %s".formatted(locator, key, text, expected),
          e);
    }
  }
}

package org.hghca.conformance.profile;

import java.time.Duration;
import java.util.Comparator;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * How long tests wait: in the time of the devices that the system property {@code hghca.device}
 * names, {@code slow=1000} in a locator. The limits of the annotation {@code @Timeout} and the
 * default time-out of all tests, which are the system's time, do not count where a device is slower
 * than a card.
 */
public final class TestTime implements LauncherSessionListener {
  private static final TimeScale SCALE = slowest(System.getProperty("hghca.device", ""));
  private static final String TIMEOUT_MODE = "junit.jupiter.execution.timeout.mode";

  /** Used by the test platform. */
  public TestTime() {}

  /** The scale of the slowest of some locators, which commas separate. */
  static TimeScale slowest(String locators) {
    return Locator.list(locators).stream()
        .map(locator -> TimeScale.of(Locator.parse(locator)))
        .max(Comparator.comparingInt(TimeScale::factor))
        .orElse(TimeScale.CARD);
  }

  /** The time limit for an operation that takes a card so many seconds. */
  public static Duration seconds(long ofCard) {
    return SCALE.stretch(Duration.ofSeconds(ofCard));
  }

  /** The time limit for an operation that takes a card so many milliseconds. */
  public static Duration millis(long ofCard) {
    return SCALE.stretch(Duration.ofMillis(ofCard));
  }

  /**
   * The number of repetitions on this device, for so many on a card: fewer on a slower device, so
   * that a test takes the same time.
   */
  public static int times(int ofCard) {
    return fewer(ofCard, SCALE);
  }

  static int fewer(int ofCard, TimeScale scale) {
    return Math.max(1, ofCard / scale.factor());
  }

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    if (SCALE.factor() > 1 && System.getProperty(TIMEOUT_MODE) == null) {
      System.setProperty(TIMEOUT_MODE, "disabled");
    }
  }
}

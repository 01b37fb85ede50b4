package org.hghca.conformance.profile;

import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.opentest4j.TestAbortedException;

/**
 * The profile of the card under test: the system property {@code hghca.profile}, s by default.
 * Software HCAs take it from here; for a device under test the property describes the device.
 */
public final class TestProfile {
  private static final HardwareProfile CURRENT =
      HardwareProfile.byName(System.getProperty("hghca.profile", "s"));

  private TestProfile() {}

  /** Short name: s, r1 or r2. */
  public static String name() {
    return CURRENT.name();
  }

  /** The profile as data, for limits. */
  public static HardwareProfile hardware() {
    return CURRENT;
  }

  /** Whether it is the interface document, which has every {@link Feature}. */
  public static boolean isDocument() {
    return CURRENT == HardwareProfile.S;
  }

  /** Whether it has a feature. */
  public static boolean has(Feature feature) {
    return Feature.missing(feature).isEmpty();
  }

  /**
   * Skips the invocation when a device is under test, for tests that need a software HCA of their
   * own.
   */
  public static void requireModel() {
    if (!System.getProperty("hghca.device", "").isEmpty()) {
      throw new TestAbortedException(
          "needs software HCAs of its own, for virtual time or faults: hghca.device names a"
              + " device");
    }
  }

  /** One value where the profile has a feature, another where it lacks it. */
  public static <T> T pick(Feature feature, T with, T without) {
    return has(feature) ? with : without;
  }

  /**
   * Skips the invocation as UNSUPPORTED when any of them is missing, for tests whose parameters
   * need different ones; other tests use {@link Needs}.
   */
  public static void require(Feature... features) {
    List<Feature> missing = Feature.missing(features);
    if (!missing.isEmpty()) {
      throw new TestAbortedException(Unsupported.reason(missing));
    }
  }

  /**
   * The locator of a software HCA with this profile.
   *
   * @param locator a scheme that takes {@code profile=}, and a name, with or without parameters
   */
  public static String model(String locator) {
    if (isDocument()) {
      return locator;
    }
    return locator + (locator.contains("?") ? "&" : "?") + "profile=" + name();
  }
}

package org.hghca.conformance.profile;

import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.model.VirtioProvider;
import org.hghca.vfio.Locator;
import org.opentest4j.TestAbortedException;

/**
 * The profile of the device under test: the system property {@code hghca.profile}, s by default.
 * Software HCAs take it from here; for a device under test the property describes the device.
 *
 * <p>The profiles s, r1 and r2 are readings of one card; {@code virtio} is a virtio network card
 * with RoCE queues.
 */
public final class TestProfile {
  /** The profile that is another kind of device. */
  static final String VIRTIO = "virtio";

  private static final String NAME = System.getProperty("hghca.profile", "s");

  /** A virtio device is driven as its interface says, so it has none of the RTLs' deviations. */
  private static final HardwareProfile CURRENT =
      HardwareProfile.byName(NAME.equals(VIRTIO) ? "s" : NAME);

  /** As long as the longest RoCE packet of 4096 bytes requires. */
  private static final String VIRTIO_MTU = "mtu=4188";

  private TestProfile() {}

  /** Short name: s, r1, r2 or virtio. */
  public static String name() {
    return NAME;
  }

  /** Whether it is a virtio network card. */
  public static boolean isVirtio() {
    return NAME.equals(VIRTIO);
  }

  /** The profile as data, for limits of the card; that of s where it is not the card. */
  public static HardwareProfile hardware() {
    return CURRENT;
  }

  /** Whether it is the card as one of the makers' RTLs has it. */
  public static boolean isRtl() {
    return CURRENT != HardwareProfile.S;
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
    if (isVirtio()) {
      return with(locator.replaceFirst("^model:", VIRTIO + ":"), VIRTIO_MTU);
    }
    return isRtl() ? with(locator, "profile=" + name()) : locator;
  }

  /** A software HCA of this profile that no driver has opened; to be served or closed. */
  public static SoftwareHca plugIn(String model) {
    Locator locator = Locator.parse(model(model));
    return isVirtio() ? VirtioProvider.plugIn(locator) : ModelProvider.plugIn(locator);
  }

  private static String with(String locator, String parameter) {
    return locator + (locator.contains("?") ? "&" : "?") + parameter;
  }
}

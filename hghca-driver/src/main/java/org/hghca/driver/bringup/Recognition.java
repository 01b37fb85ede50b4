package org.hghca.driver.bringup;

import java.util.Optional;
import java.util.Set;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.mailbox.HcrProbe;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/**
 * Detects the profile of a card and the position of its HCR. The PCI ids of the card are not
 * documented, so any function with the right properties is accepted.
 *
 * <p>The RTL has its HCR at 0 of BAR0, the interface document at 80000h, where the RTL does not
 * respond: a few reads there block BAR0 permanently. So 0 is probed first, and 80000h only if there
 * is no HCR at 0. BAR2 is never read.
 *
 * <p>The locator may specify it: {@code as=s}, {@code r1} or {@code r2} names the profile, {@code
 * hcr=0x80000} the offset. Offset 0 is probed first all the same, and an HCR there refuses another
 * offset; {@code assumeProfile=true} skips that. {@code assumeClean=true} says that a card without
 * a reset has not been used since its bitstream was loaded.
 */
public final class Recognition {
  private static final ConditionLog LOG = ConditionLog.of(Recognition.class);

  private static final int NO_VENDOR = 0xffff;

  /** The numbers of QPs and CQs in QUERY_DEV_LIM of the second RTL, log2. */
  private static final int R2_OBJECTS_LOG = 8;

  private static final int R1_QPS_LOG = 14;
  private static final int R1_CQS_LOG = 13;

  private final PciFunction function;
  private final Locator locator;
  private final Optional<HardwareProfile> named;
  private final Optional<Long> namedHcr;
  private final boolean assumeClean;
  private final boolean assumeProfile;

  /**
   * An offset with an HCR.
   *
   * @param profile empty if QUERY_DEV_LIM must distinguish the first RTL from the second
   */
  public record Place(long hcrBase, Optional<HardwareProfile> profile) {
    /** The profile whose rules apply until QUERY_DEV_LIM has completed: of two the stricter one. */
    public HardwareProfile profileUntilKnown() {
      return profile.orElse(HardwareProfile.R2);
    }

    public boolean isRtl() {
      return profileUntilKnown() != HardwareProfile.S;
    }
  }

  /**
   * Reads the locator.
   *
   * @throws VerbsException EINVAL naming the parameter that cannot be understood
   */
  public Recognition(PciFunction function) {
    this.function = function;
    this.locator = function.locator();
    this.named = locator.parameter(DriverParameter.AS.key()).map(this::profile);
    this.namedHcr = locator.parameter(DriverParameter.HCR.key()).map(this::offset);
    this.assumeClean = isSet(DriverParameter.ASSUME_CLEAN);
    this.assumeProfile = isSet(DriverParameter.ASSUME_PROFILE);
    if (assumeProfile && named.isEmpty() && namedHcr.isEmpty()) {
      throw wrong(DriverParameter.ASSUME_PROFILE, "it needs as= or hcr= beside it", null);
    }
  }

  private boolean isSet(DriverParameter parameter) {
    return switch (locator.parameter(parameter.key()).orElse("false")) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong(parameter, "known are true and false", null);
    };
  }

  private HardwareProfile profile(String name) {
    try {
      return HardwareProfile.byName(name);
    } catch (IllegalArgumentException e) {
      throw wrong(DriverParameter.AS, "known are s, r1 and r2", e);
    }
  }

  private long offset(String text) {
    try {
      long offset = Long.decode(text);
      if (offset >= 0 && offset <= Bar.BAR0_SIZE - Hcr.SIZE && offset % 4 == 0) {
        return offset;
      }
    } catch (NumberFormatException e) {
      throw wrongOffset(e);
    }
    throw wrongOffset(null);
  }

  private VerbsException wrongOffset(Throwable cause) {
    return wrong(
        DriverParameter.HCR,
        "it must be an offset in BAR0, a multiple of 4, such as 0x0 or 0x80000",
        cause);
  }

  private VerbsException wrong(DriverParameter parameter, String fix, Throwable cause) {
    String key = parameter.key();
    return new VerbsException(
        Errno.EINVAL,
        "%s: %s=%s is invalid: %s".formatted(locator, key, locator.parameter(key).orElse(""), fix),
        cause);
  }

  /**
   * Checks configuration space and the sizes of the regions, and enables memory decoding.
   *
   * @throws VerbsException ENODEV with the property that does not match the card
   */
  public void checkConfiguration() {
    ConfigurationSpace configuration = function.configuration();
    if (configuration.vendorId() == NO_VENDOR) {
      throw new VerbsException(
          Errno.ENODEV,
          "%s: configuration space reads all ones: the device is gone, or its link is down"
              .formatted(locator));
    }
    long most = namedHcr.orElse(named.map(p -> (long) p.hcrBase()).orElse((long) Bar.HCR_RTL));
    if (size(Bar.BAR0) < most + Hcr.SIZE) {
      throw failure("BAR0 does not hold a command register at 0x%x".formatted(most));
    }
    if (size(Bar.BAR2) < Bar.UAR_PAGE_SIZE) {
      throw failure("BAR2 does not hold a page of doorbells");
    }
    if (!configuration.enableMemorySpace()) {
      throw failure("it does not accept the memory space bit of its command register");
    }
  }

  /**
   * Probes for the HCR.
   *
   * @throws VerbsException ENODEV or EBUSY with the values read and the fix; EINVAL for an offset
   *     that does not determine the profile; EOPNOTSUPP for an RTL that cannot be reset
   */
  public Place findHcr() {
    Place place = namedHcr.isEmpty() && named.isEmpty() ? probe() : named();
    if (place.isRtl() && !function.canReset() && !assumeClean) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          ("%s cannot be reset, and the card may hold old queue positions: reload the bitstream and"
                  + " set assumeClean=true in the locator")
              .formatted(locator));
    }
    return place;
  }

  private Place probe() {
    HcrProbe low = low();
    if (low.isHcr()) {
      return new Place(Bar.HCR_RTL, Optional.empty());
    }
    HcrProbe high = HcrProbe.at(function, Bar.HCR_DOCUMENT);
    if (!high.isHcr()) {
      throw failure(
          high.finding() == HcrProbe.Finding.BUSY ? Errno.EBUSY : Errno.ENODEV,
          "no HCR: %s; %s".formatted(describe(low), describe(high)));
    }
    return new Place(Bar.HCR_DOCUMENT, Optional.of(HardwareProfile.S));
  }

  /**
   * Probes offset 0. If something responds there that is no free HCR, another offset is not safe to
   * access.
   */
  private HcrProbe low() {
    HcrProbe low = HcrProbe.at(function, Bar.HCR_RTL);
    if (!low.isHcr() && low.finding() != HcrProbe.Finding.NO_TOKEN) {
      throw failure(low);
    }
    return low;
  }

  /** The place that the locator names, unless offset 0 shows that it is wrong. */
  private Place named() {
    Place place = namedPlace();
    if (place.hcrBase() != Bar.HCR_RTL && !assumeProfile && low().isHcr()) {
      throw new VerbsException(
          Errno.EINVAL,
          ("%s: the locator has the command register at 0x%x, but it is at 0x0, as on a card of the"
                  + " makers' RTL, whose registers an access to another offset can block: leave out"
                  + " as= and hcr=. assumeProfile=true accesses 0x%x all the same")
              .formatted(locator, place.hcrBase(), place.hcrBase()));
    }
    return checked(place);
  }

  private Place namedPlace() {
    if (named.isPresent()) {
      return new Place(namedHcr.orElse((long) named.get().hcrBase()), named);
    }
    long base = namedHcr.orElseThrow();
    if (base == Bar.HCR_RTL) {
      return new Place(base, Optional.empty());
    }
    if (base == Bar.HCR_DOCUMENT) {
      return new Place(base, Optional.of(HardwareProfile.S));
    }
    throw new VerbsException(
        Errno.EINVAL,
        "%s: hcr=0x%x is not the offset of a known profile: add as=s, as=r1 or as=r2"
            .formatted(locator, base));
  }

  private Place checked(Place place) {
    HcrProbe probe = HcrProbe.at(function, place.hcrBase());
    if (!probe.isHcr()) {
      throw failure(probe);
    }
    return place;
  }

  /**
   * The profile of a card after QUERY_DEV_LIM. The user's choice takes precedence; a mismatch is
   * logged.
   *
   * @throws VerbsException ENODEV for an RTL that is neither the first nor the second
   */
  public HardwareProfile profile(Place place, DeviceLimits limits) {
    if (!place.isRtl()) {
      return HardwareProfile.S;
    }
    Optional<HardwareProfile> seen = seen(limits);
    if (named.isPresent()) {
      if (!seen.equals(named)) {
        LOG.warn(
            About.device(locator),
            "the driver uses as={}, but QUERY_DEV_LIM returns 2^{} queue pairs and 2^{}"
                + " completion queues, as {} does",
            named.get(),
            limits.maxQpsLog(),
            limits.maxCqsLog(),
            seen.map(HardwareProfile::name).orElse("neither r1 nor r2"));
      }
      return named.get();
    }
    return seen.orElseThrow(
        () ->
            failure(
                ("QUERY_DEV_LIM returns 2^%d queue pairs and 2^%d completion queues, where the"
                        + " makers' first RTL has 2^%d and 2^%d, the second 2^%d of each")
                    .formatted(
                        limits.maxQpsLog(),
                        limits.maxCqsLog(),
                        R1_QPS_LOG,
                        R1_CQS_LOG,
                        R2_OBJECTS_LOG)));
  }

  /**
   * The used extensions of a card: all of them, unless the user has set the profile. The RTL
   * announces none.
   */
  public Set<DeviceExtension> extensions(HardwareProfile profile, DeviceLimits limits) {
    return named.isEmpty() && profile == HardwareProfile.S ? limits.extensions() : Set.of();
  }

  private static Optional<HardwareProfile> seen(DeviceLimits limits) {
    if (limits.maxQpsLog() == R2_OBJECTS_LOG && limits.maxCqsLog() == R2_OBJECTS_LOG) {
      return Optional.of(HardwareProfile.R2);
    }
    if (limits.maxQpsLog() == R1_QPS_LOG && limits.maxCqsLog() == R1_CQS_LOG) {
      return Optional.of(HardwareProfile.R1);
    }
    return Optional.empty();
  }

  private static String describe(HcrProbe probe) {
    return "BAR0 + 0x%x %s".formatted(probe.base(), probe.describe());
  }

  private VerbsException failure(HcrProbe probe) {
    Errno errno = probe.finding() == HcrProbe.Finding.BUSY ? Errno.EBUSY : Errno.ENODEV;
    return failure(errno, describe(probe));
  }

  private VerbsException failure(String what) {
    return failure(Errno.ENODEV, what);
  }

  /** Reports the values read, the function's identity, and the fix. */
  private VerbsException failure(Errno errno, String what) {
    ConfigurationSpace configuration = function.configuration();
    return new VerbsException(
        errno,
        ("%s: %s. The function is %04x:%04x of class 0x%06x, with 0x%x bytes in BAR0 and 0x%x in"
                + " BAR2. If it is a JingZhao card, set in the locator its profile (as=s, as=r1 or"
                + " as=r2) or the offset of its command register in BAR0 (hcr=0x0, hcr=0x80000)")
            .formatted(
                locator,
                what,
                configuration.vendorId(),
                configuration.deviceId(),
                configuration.classCode(),
                size(Bar.BAR0),
                size(Bar.BAR2)));
  }

  /** The size of a region, 0 where there is none. */
  private long size(int bar) {
    try {
      return function.region(bar).size();
    } catch (VfioException e) {
      if (e.reason() == VfioException.Reason.INVALID) {
        return 0;
      }
      throw e;
    }
  }
}

package org.hghca.vfio.kernel;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Which PCI functions are meant. One of
 *
 * <ul>
 *   <li>{@code 0000:03:00.0} or {@code 03:00.0}: the one at an address, domain 0000 unless given
 *   <li>{@code id=10ee:9038}: those of a vendor and device, or of one of several, {@code
 *       id=10ee:9038,1234:4843}
 *   <li>{@code class=0207}: those of a base class and subclass, or with a programming interface,
 *       too, {@code class=020700}
 * </ul>
 *
 * {@code id=} and {@code class=} may be left out. Digits are hexadecimal, in either case.
 */
public sealed interface FunctionSelector {

  boolean matches(PciDevice device);

  /**
   * At an address.
   *
   * @param address {@code dddd:bb:dd.f} in lower case
   */
  record At(String address) implements FunctionSelector {
    @Override
    public boolean matches(PciDevice device) {
      return device.address().equals(address);
    }

    @Override
    public String toString() {
      return "at " + address;
    }
  }

  /**
   * Of one of several vendors and devices.
   *
   * @param ids each {@code vvvv:dddd} in lower case
   */
  record WithId(List<String> ids) implements FunctionSelector {
    public WithId {
      ids = List.copyOf(ids);
    }

    @Override
    public boolean matches(PciDevice device) {
      return ids.contains(device.id());
    }

    @Override
    public String toString() {
      return "with id " + String.join(" or ", ids);
    }
  }

  /**
   * Of a class.
   *
   * @param digits the first four or all six digits of the class code, in lower case
   */
  record OfClass(String digits) implements FunctionSelector {
    @Override
    public boolean matches(PciDevice device) {
      return "%06x".formatted(device.classCode()).startsWith(digits);
    }

    @Override
    public String toString() {
      return "of class " + digits;
    }
  }

  /** An address as sysfs writes it. */
  static boolean isAddress(String text) {
    return Syntax.SYSFS_ADDRESS.matcher(text).matches();
  }

  /**
   * Reads a selector.
   *
   * @throws VfioException {@code INVALID} when the text is none
   */
  static FunctionSelector parse(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    Matcher address = Syntax.ADDRESS.matcher(lower);
    if (address.matches()) {
      String domain = address.group(1) == null ? "0000:" : address.group(1);
      return new At(domain + address.group(2));
    }
    Matcher ids = Syntax.IDS.matcher(lower);
    if (ids.matches()) {
      return new WithId(Arrays.stream(ids.group(1).split(",")).distinct().toList());
    }
    Matcher classCode = Syntax.CLASS.matcher(lower);
    if (classCode.matches()) {
      return new OfClass(classCode.group(1));
    }
    throw new VfioException(
        Reason.INVALID,
        ("'%s' names no PCI function: expected an address (0000:03:00.0), an id (id=10ee:9038) or"
                + " a class (class=0207)")
            .formatted(text));
  }

  /** How selectors are written. */
  final class Syntax {
    private static final String FUNCTION = "[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]";
    private static final String ID = "[0-9a-f]{4}:[0-9a-f]{4}";

    /** Domains above ffff, which some bridges make, have more than four digits. */
    private static final Pattern SYSFS_ADDRESS = Pattern.compile("[0-9a-f]{4,8}:" + FUNCTION);

    private static final Pattern ADDRESS = Pattern.compile("([0-9a-f]{4,8}:)?(" + FUNCTION + ")");
    private static final Pattern IDS = Pattern.compile("(?:id=)?(%s(?:,%s)*)".formatted(ID, ID));
    private static final Pattern CLASS =
        Pattern.compile("(?:class=)?([0-9a-f]{4}(?:[0-9a-f]{2})?)");

    private Syntax() {}
  }
}

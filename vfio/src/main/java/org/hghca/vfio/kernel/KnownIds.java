package org.hghca.vfio.kernel;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The vendor and device ids of cards. The ids of a real card are defined by its vendor's PCIe block
 * and not documented, so the user can specify them: {@code --ids=10ee:9038,1234:4843}, in a program
 * {@code -Dhghca.ids=}.
 */
public final class KnownIds {
  /** The system property with the ids, separated by commas. */
  public static final String PROPERTY = "hghca.ids";

  private static final Pattern ID = Pattern.compile("[0-9a-f]{4}:[0-9a-f]{4}");

  private KnownIds() {}

  /**
   * The ids that the user has specified, each {@code vvvv:dddd} in lower case; empty when none.
   *
   * @throws VfioException {@code INVALID} when the property has another form
   */
  static List<String> configured() {
    return Arrays.stream(System.getProperty(PROPERTY, "").split(","))
        .map(text -> text.strip().toLowerCase(Locale.ROOT))
        .filter(text -> !text.isEmpty())
        .map(KnownIds::checked)
        .toList();
  }

  private static String checked(String id) {
    if (!ID.matcher(id).matches()) {
      throw new VfioException(
          Reason.INVALID,
          ("'%s' is not an id: expected vendor:device, such as 10ee:9038, separated by commas, of"
                  + " --ids, in a program -D%s=")
              .formatted(id, PROPERTY));
    }
    return id;
  }
}

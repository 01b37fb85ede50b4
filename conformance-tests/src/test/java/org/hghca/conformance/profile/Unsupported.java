package org.hghca.conformance.profile;

import java.util.List;
import java.util.Optional;

/** The reason of a test that was skipped because of missing features. */
public final class Unsupported {
  private static final String PREFIX = "UNSUPPORTED: ";

  private Unsupported() {}

  static String reason(List<Feature> missing) {
    return PREFIX + Feature.names(missing);
  }

  /** The features of a reason, as text; empty when the reason is another one. */
  public static Optional<String> features(String reason) {
    return reason != null && reason.startsWith(PREFIX)
        ? Optional.of(reason.substring(PREFIX.length()))
        : Optional.empty();
  }
}

package org.hghca.verbs;

import java.util.Locale;

/** Who implements a {@link DeviceFeature}. */
public enum FeatureSupport {
  /** The card itself. */
  NATIVE,

  /** The driver implements it in software. */
  SOFTWARE,

  /** Neither card nor driver implements it. */
  MISSING;

  /** In small letters, as tools print it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}

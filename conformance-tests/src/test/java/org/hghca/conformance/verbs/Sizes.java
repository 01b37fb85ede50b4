package org.hghca.conformance.verbs;

import java.util.Arrays;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;

/** Message lengths that the profile supports: empty messages are a {@link Feature}. */
final class Sizes {
  private Sizes() {}

  /** The smallest length: 0 or 1. */
  static int least() {
    return TestProfile.pick(Feature.ZERO_LENGTH, 0, 1);
  }

  static int[] some(int... sizes) {
    return Arrays.stream(sizes).filter(size -> size >= least()).toArray();
  }
}

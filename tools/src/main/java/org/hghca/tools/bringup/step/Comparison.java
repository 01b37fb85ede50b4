package org.hghca.tools.bringup.step;

import java.util.BitSet;
import java.util.Optional;
import org.hghca.tools.bringup.cause.ByteDifference;

/**
 * Expected bytes next to actual ones.
 *
 * @param what name of the bytes
 * @param expected bytes according to the profile
 * @param seen bytes from the card
 * @param ignored bytes that may have any value
 */
public record Comparison(String what, byte[] expected, byte[] seen, BitSet ignored) {

  /** Whether a byte differs that must be equal. */
  public boolean differsAt(int index) {
    return !ignored.get(index)
        && (index >= expected.length || index >= seen.length || expected[index] != seen[index]);
  }

  /** How the bytes differ, in the words of hardware. */
  Optional<String> difference() {
    byte[] judged = seen.clone();
    for (int i = 0; i < Math.min(judged.length, expected.length); i++) {
      judged[i] = ignored.get(i) ? expected[i] : judged[i];
    }
    return ByteDifference.of(expected, judged);
  }

  /** The first byte that differs; -1 when none does. */
  public int firstDifference() {
    for (int i = 0; i < length(); i++) {
      if (differsAt(i)) {
        return i;
      }
    }
    return -1;
  }

  /** How many bytes the longer of the two has. */
  public int length() {
    return Math.max(expected.length, seen.length);
  }

  /** How many bytes differ. */
  public int differences() {
    int count = 0;
    for (int i = 0; i < length(); i++) {
      count += differsAt(i) ? 1 : 0;
    }
    return count;
  }
}

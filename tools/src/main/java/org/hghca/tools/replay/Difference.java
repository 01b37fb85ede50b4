package org.hghca.tools.replay;

import java.util.Arrays;
import org.hghca.tools.card.fields.Fields;

/**
 * What the card did differently than the recorded one.
 *
 * @param what the command or CQE, by name and number
 * @param recorded what the trace has
 * @param here what this card did
 */
public record Difference(String what, String recorded, String here) {

  /** Of bytes with names: only the fields that differ, or the first byte if no name does. */
  static Difference of(String what, Fields recorded, Fields here, byte[] before, byte[] now) {
    Fields old = recorded.without(here);
    Fields other = here.without(recorded);
    if (!old.isEmpty() || !other.isEmpty()) {
      return new Difference(what, old.line(), other.line());
    }
    int at = Arrays.mismatch(before, now);
    return new Difference(what, describe(at, before), describe(at, now));
  }

  private static String describe(int at, byte[] bytes) {
    return "byte 0x%x: %02x".formatted(at, bytes[at]);
  }
}

package org.hghca.tools.bringup.cause;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A failed step that points to a part of the device.
 *
 * @param step which steps, by id
 * @param reason which complaints; what its group finds is a part of the cause
 * @param cause what is likely wrong
 * @param lookAt which block, signal, register or table to look at
 */
record FailurePattern(Pattern step, Pattern reason, String cause, String lookAt) {

  static FailurePattern of(String step, String reason, String cause, String lookAt) {
    return new FailurePattern(Pattern.compile(step), Pattern.compile(reason), cause, lookAt);
  }

  boolean fits(String id, String complaint) {
    return step.matcher(id).matches() && reason.matcher(complaint).find();
  }

  /** The cause, with what the complaint says. */
  String cause(String complaint) {
    Matcher found = reason.matcher(complaint);
    return found.find() && found.groupCount() > 0 ? cause.formatted(found.group(1)) : cause;
  }
}

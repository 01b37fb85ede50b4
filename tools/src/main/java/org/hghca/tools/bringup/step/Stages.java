package org.hghca.tools.bringup.step;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How far a message came that did not complete.
 *
 * @param written whether its payload is in memory, in whole or in part
 * @param received whether the receiver has a completion; empty where it is to have none
 * @param completed whether the sender has a completion
 */
public record Stages(boolean written, Optional<Boolean> received, boolean completed) {
  private static final String INSIDE = "WQE fetched, payload read, packet out, packet in: ";

  /** In a line: each stage is seen, follows from a later one, is not seen, or cannot be seen. */
  public String text() {
    List<String> stages = new ArrayList<>();
    stages.add("doorbell written: seen");
    boolean arrived = written || received.orElse(false);
    stages.add(INSIDE + (arrived ? "follows from the next ones" : "cannot be seen"));
    stages.add("payload written: " + seen(written));
    received.ifPresent(there -> stages.add("CQE of the receiver: " + seen(there)));
    stages.add("CQE of the sender: " + seen(completed));
    return "stages: " + String.join("; ", stages);
  }

  private static String seen(boolean there) {
    return there ? "seen" : "not seen";
  }
}

package org.hghca.tools.bringup.board;

/**
 * What a session does for a person who looks at the board beside its steps.
 *
 * @param mark whether a NOP precedes each step from hcr.nop on; its token is the number of the step
 * @param keep whether the session ends at the first step that fails, and keeps the card as that
 *     step has left it
 * @param keepAt id of a step at which it ends in any case; empty for none
 */
public record Bench(boolean mark, boolean keep, String keepAt) {
  /** Nothing. */
  public static final Bench NONE = new Bench(false, false, "");

  /** Whether the driver's commands, doorbells and memory must be known. */
  public boolean taps() {
    return mark || keep;
  }
}

package org.hghca.model.hca;

/**
 * How much a card does in one step.
 *
 * @param most register writes to take, packets to receive and packets to send, of each
 * @param commands whether commands are executed too, of which nobody knows how long they take
 */
public record StepBudget(int most, boolean commands) {
  /** As much as a card does before the others get their turn. */
  public static final StepBudget WHOLE = new StepBudget(256, true);
}

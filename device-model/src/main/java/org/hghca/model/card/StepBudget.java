package org.hghca.model.card;

/**
 * The limits of one step of a card.
 *
 * @param most maximum number of register writes to take, of packets to receive, and of packets to
 *     send
 * @param commands whether commands are also executed, which may take any time
 */
public record StepBudget(int most, boolean commands) {
  /** The work of a card before the others get their turn. */
  public static final StepBudget WHOLE = new StepBudget(256, true);
}

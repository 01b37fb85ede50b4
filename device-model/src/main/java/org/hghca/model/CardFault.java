package org.hghca.model;

import java.util.List;
import org.hghca.model.fault.CardType;
import org.hghca.model.fault.Fault;
import org.hghca.model.fault.FaultList;

/**
 * A fault that a software card plays with {@code fault=NAME} in its locator, for a test of what
 * finds faults.
 *
 * @param name as in the locator
 * @param cards what can play it: {@code s}, {@code r1} and {@code r2} for the profiles of a {@code
 *     model:} locator, {@code virtio} for a {@code virtio:} locator
 * @param description what the card does
 * @param conclusion what a bring-up must conclude
 * @param legal whether a card may be like that: a bring-up must pass
 */
public record CardFault(
    String name, List<String> cards, String description, String conclusion, boolean legal) {

  /** Copies the list. */
  public CardFault {
    cards = List.copyOf(cards);
  }

  /** All faults, the legal variations last. */
  public static List<CardFault> all() {
    return FaultList.all().stream().map(CardFault::of).toList();
  }

  private static CardFault of(Fault fault) {
    return new CardFault(
        fault.label(),
        fault.cards().stream().map(CardType::label).toList(),
        fault.description(),
        fault.conclusion(),
        fault.isLegal());
  }
}

package org.hghca.model.fault;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What a software card does differently from one without a fault.
 *
 * @param label the name that users give, such as {@code dead-doorbell}
 * @param cards the kinds of cards that can play it
 * @param description what the card does
 * @param conclusion what a bring-up must conclude, {@link #LEGAL} for a card that is right
 * @param maker makes what it does to one card
 */
public record Fault(
    String label,
    Set<CardType> cards,
    String description,
    String conclusion,
    Supplier<Injection> maker) {
  /** Of faults that each card can play. */
  static final Set<CardType> ALL = EnumSet.allOf(CardType.class);

  /** Of faults of what only HCAs have. */
  static final Set<CardType> HCAS = EnumSet.of(CardType.S, CardType.R1, CardType.R2);

  /**
   * Of faults of event queues, which the RTL has not, and of variations of what is the same on each
   * card of the RTL.
   */
  static final Set<CardType> DOCUMENT = EnumSet.of(CardType.S);

  /** Of faults of interrupts, and of variations of what is the same on each card of the RTL. */
  static final Set<CardType> NOT_RTL = EnumSet.of(CardType.S, CardType.VIRTIO);

  /** The conclusion of a fault that is none. */
  static final String LEGAL = "none: PASSED";

  /** Whether a card may be like that: a bring-up must pass. */
  public boolean isLegal() {
    return conclusion.equals(LEGAL);
  }

  /** Whether the function still has a function-level reset. */
  public boolean canReset() {
    return injection().canReset();
  }

  /** What it does to one card. */
  Injection injection() {
    return maker.get();
  }
}

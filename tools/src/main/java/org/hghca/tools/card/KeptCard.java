package org.hghca.tools.card;

import java.util.OptionalInt;
import org.hghca.tools.raw.TappedFunction;

/**
 * An open card for a session, which does not give it back.
 *
 * @param options of the session; their profile is the one that is known of the card
 * @param function of the card
 * @param hcrBase where the HCR is in BAR0; empty when that is not known
 */
public record KeptCard(CardOptions options, TappedFunction function, OptionalInt hcrBase) {}

/**
 * The profile of a card, its capabilities and the meaning of its completions: the rest of the
 * driver queries these instead of the card's name.
 */
package org.hghca.driver.card;

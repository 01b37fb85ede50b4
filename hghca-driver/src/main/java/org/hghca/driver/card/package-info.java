/**
 * Which card a function is, what it can and what its completions mean: what the rest of the driver
 * asks instead of the card's name.
 */
package org.hghca.driver.card;

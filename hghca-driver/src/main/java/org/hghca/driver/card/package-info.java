/**
 * A card that was brought up: how it is reached, whether it is still there, what it can and what
 * its completions mean. The rest of the driver asks this instead of the card's name.
 */
package org.hghca.driver.card;

/**
 * What the card is told of memory: regions with their keys and page addresses, and for a card that
 * does not survive bad requests what these may name.
 */
package org.hghca.driver.memory;

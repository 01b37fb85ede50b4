/**
 * Registration of memory with the card: regions with their keys and page addresses, and, for a card
 * that stops at bad requests, the memory that requests may name.
 */
package org.hghca.driver.memory;

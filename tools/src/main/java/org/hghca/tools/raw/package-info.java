/**
 * A card that is driven by its registers, without the driver of the verbs: every command is
 * recorded with its mailboxes, and accesses that could stop the RTL are blocked. What brings a
 * board up step by step and the prompt on a card share it.
 */
package org.hghca.tools.raw;

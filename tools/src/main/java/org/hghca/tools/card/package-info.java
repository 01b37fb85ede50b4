/**
 * A prompt on one opened card: commands by the HCR, registers, configuration space and contexts,
 * one line at a time. Only the PCI function is opened, so that it works on a card that cannot be
 * brought up.
 */
package org.hghca.tools.card;

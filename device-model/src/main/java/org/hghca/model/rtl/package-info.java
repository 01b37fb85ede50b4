/**
 * The card as its makers' RTL implements it, with its limits, its quirks and everything that stops
 * it. The model is not lenient: whatever hangs the card also hangs the model, until it is reset.
 */
package org.hghca.model.rtl;

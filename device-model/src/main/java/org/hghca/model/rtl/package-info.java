/**
 * The card as its makers' RTL implements it, with its limits, its quirks and everything that stops
 * it: what both readings share. Their data paths are the packages {@code r1} and {@code r2}. The
 * model is not lenient: whatever hangs the card also hangs the model, until it is reset.
 */
package org.hghca.model.rtl;

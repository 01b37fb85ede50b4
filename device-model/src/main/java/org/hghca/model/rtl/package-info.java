/**
 * The card as its makers' RTL plays it, with its limits, its quirks and everything that stops it.
 * Nothing here is lenient: what hangs the card hangs this one, until it is reset.
 */
package org.hghca.model.rtl;

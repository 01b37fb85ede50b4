package org.hghca.model;

/**
 * The cable that an HCA is plugged into.
 *
 * @param disturbance what it does to packets if this plug is its first
 */
record Plug(String cable, Disturbance disturbance) {}

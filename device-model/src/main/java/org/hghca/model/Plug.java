package org.hghca.model;

/**
 * The cable that an HCA is plugged into.
 *
 * @param disturbance the cable's disturbance if this plug is its first
 */
record Plug(String cable, Disturbance disturbance) {}

package org.hghca.model.virtio;

/**
 * An address handle.
 *
 * @param pdn of its PD
 */
record RoceHandle(int pdn, RoceAddress address) {}

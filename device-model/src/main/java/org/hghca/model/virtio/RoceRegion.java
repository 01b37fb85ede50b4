package org.hghca.model.virtio;

/**
 * A memory region: addresses that its user chose, and the pages behind them.
 *
 * @param pdn of its PD
 * @param access mask of {@code MrAccess}; the device may always read it for its own side
 * @param start the first address
 * @param length bytes from there on
 * @param pages bus addresses; the region begins in the first one at the start's offset in a page
 * @param lkey key for requests of this side
 * @param rkey key for requests of the other side, 0 where it has no rights
 */
record RoceRegion(int pdn, int access, long start, long length, long[] pages, int lkey, int rkey) {}

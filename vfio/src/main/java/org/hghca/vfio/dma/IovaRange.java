package org.hghca.vfio.dma;

/**
 * A range of usable I/O virtual addresses.
 *
 * @param first lowest address
 * @param last highest address, inclusive
 */
public record IovaRange(long first, long last) {}

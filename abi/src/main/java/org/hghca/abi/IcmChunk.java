package org.hghca.abi;

/**
 * A run of ICM pages and the memory behind it: one entry of MAP_ICM (interface document, table
 * 3-2-14).
 *
 * <p>Page k of the run is backed by the 4096 bytes at {@code pageAddress + k * 4096}.
 *
 * @param virtualAddress ICM address of the first page
 * @param pageAddress bus address of the memory, a multiple of 4096
 * @param pages number of pages, 1 to 4095
 */
public record IcmChunk(long virtualAddress, long pageAddress, int pages) {}

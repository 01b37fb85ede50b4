package org.hghca.virtio;

/**
 * Where a capability of a device says that a structure of registers is.
 *
 * @param name what it holds, such as {@code common configuration}
 * @param bar base address register, 0 to 5
 * @param offset of the structure within the BAR, in bytes
 * @param length of the structure in bytes
 */
public record RegisterStructure(String name, int bar, long offset, long length) {}

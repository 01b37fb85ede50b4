package org.hghca.verbs;

/**
 * A device that can be opened.
 *
 * @param name such as {@code hghca0}
 * @param locator its locator, such as {@code pci:0000:03:00.0}
 * @param nodeGuid its EUI-64; 0 if only an open device reports it
 */
public record RdmaDevice(String name, String locator, long nodeGuid) {}

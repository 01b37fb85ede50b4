/**
 * The seam between a driver and a PCI function. The host half, {@link org.hghca.vfio.PciFunction},
 * is what a driver sees; the device half, {@link org.hghca.vfio.EmulatedFunction}, is what a device
 * in software implements. What opens a function is in the packages beneath: {@code kernel}, {@code
 * user} and {@code inprocess}.
 */
package org.hghca.vfio;

/**
 * PCI functions that the Linux kernel's VFIO hands to user space: finding them, giving them to
 * vfio-pci and back, saying what is wrong, and opening them.
 */
package org.hghca.vfio.kernel;

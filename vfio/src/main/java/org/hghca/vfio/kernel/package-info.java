/**
 * PCI functions that the Linux kernel's VFIO gives to user space: finding them, binding them to
 * vfio-pci and back, diagnosing problems, and opening them.
 */
package org.hghca.vfio.kernel;

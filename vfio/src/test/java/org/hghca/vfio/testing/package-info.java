/**
 * What the tests of all modules use, in the test jar of this one: doubles of the seam between a PCI
 * function and its host.
 */
package org.hghca.vfio.testing;

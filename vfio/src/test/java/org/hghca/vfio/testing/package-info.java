/**
 * Helpers for the tests of all modules, in the test jar of this one: doubles of the interface
 * between a PCI function and its host.
 */
package org.hghca.vfio.testing;

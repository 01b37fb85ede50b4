/**
 * Test doubles of the seam between a PCI function and its host, for the tests of every module: they
 * are the test jar of this module.
 */
package org.hghca.vfio.doubles;

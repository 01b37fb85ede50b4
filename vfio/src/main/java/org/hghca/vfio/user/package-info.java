/**
 * The vfio-user protocol (QEMU's {@code docs/interop/vfio-user.rst}): a PCI function on the other
 * side of a UNIX socket, from either end.
 */
package org.hghca.vfio.user;

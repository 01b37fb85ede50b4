/**
 * Sockets over RDMA as the JDK's: a provider of channels and selectors, for programs that know
 * nothing of it and for programs that take channels from it.
 */
package org.hghca.sockets;

/**
 * Reliable streams of bytes over RDMA, by version 1 of the protocol that librdmacm calls rsocket.
 */
package org.hghca.sockets.stream;

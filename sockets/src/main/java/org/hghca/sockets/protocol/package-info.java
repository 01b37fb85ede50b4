/**
 * Version 1 of the protocol that librdmacm calls rsocket: words, layouts and accounts, without a
 * device.
 *
 * <p>Each end has a receive buffer of two halves, which the peer fills in turn by RDMA WRITE with
 * an immediate: the {@link org.hghca.sockets.protocol.MessageWord}. Two things limit the peer: room
 * in the halves, of which it learns by entries of its {@link org.hghca.sockets.protocol.HalfEntry}
 * table, and the number of its messages.
 */
package org.hghca.sockets.protocol;

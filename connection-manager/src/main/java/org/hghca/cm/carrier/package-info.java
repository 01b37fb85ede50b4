/**
 * What brings the messages of a connection from one end to the other: the interface between the
 * connection manager's API and the protocols beneath it, the InfiniBand connection manager on queue
 * pair 1 and TCP.
 *
 * <p>A {@link org.hghca.cm.carrier.Handshake} is one end of a connection. Calls to it return at
 * once; what comes of them is reported to {@link org.hghca.cm.carrier.HandshakeEvents}, on a thread
 * of the carrier, one call after another for each handshake. A carrier modifies no queue pair.
 */
package org.hghca.cm.carrier;

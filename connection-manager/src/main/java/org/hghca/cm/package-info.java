/**
 * Connections by address: the counterpart of librdmacm. {@link org.hghca.cm.CmId} and {@link
 * org.hghca.cm.EventChannel} are its calls and events one by one.
 *
 * <h2>Parts of an identifier</h2>
 *
 * A {@code CmId} delegates to its parts: {@code Addressing} knows addresses, device, carrier and
 * path; {@code IdQueuePair} modifies the queue pair; {@code ConnectionEnd}, {@code Service} and
 * {@code Listening} are what it has at a carrier, and take what the carrier reports. All of them
 * use {@code Lifecycle}, which has the state and passes reports on, and none uses another
 * identifier, but that a listener makes those of its requests. {@code Negotiation} computes
 * messages and has no state.
 *
 * <p>The API is a circle, as that of librdmacm is: a channel makes identifiers, an event names its
 * identifier, and an identifier its channel; {@code Calls}, which waits on the channel, and {@code
 * Listening} belong to it. The parts below know no identifier: they pass a {@code Report} up, of
 * which the identifier makes a {@code CmEvent}.
 *
 * <h2>The way of a message</h2>
 *
 * What a connection sends and what its peer answers pass the same layers, out and back:
 *
 * <pre>
 *   rdma_connect                    layer                    rdma_get_cm_event
 *     CmId.connect                  the identifier             CmId.onTaken
 *       ConnectionEnd.ask           its connection               ConnectionEnd.replied
 *         Carrier.connect           the carrier, by interface      HandshakeEvents
 *           ActiveHandshake.begin   the protocol, a REQ              ActiveHandshake.receivedRep
 *             MadAgent.send         all handshakes of a device         Engine.received
 *               GsiTransport.send   the thread of the carrier            GsiTransport.pollAndStep
 *                 GsiQueue.send     queue pair 1, a frame                  GsiQueue.poll
 * </pre>
 *
 * With the carrier by TCP, {@code TcpHandshake} and {@code Link} are in the place of the last four.
 *
 * <h2>Threads and locks</h2>
 *
 * The library opens devices, and reads sockets, on virtual threads; nothing of the program's runs
 * on them. Locks in their order:
 *
 * <ol>
 *   <li>The lock of an identifier, its {@code Lifecycle}, under which its queue pair is modified;
 *       of a listener before that of an identifier of its requests.
 *   <li>That of a handshake of a carrier.
 *   <li>Those of an event channel, of the ports, of a device and of the counts of events, which are
 *       held briefly, but that devices are opened one at a time.
 * </ol>
 *
 * A carrier holds no lock when it reports.
 */
package org.hghca.cm;

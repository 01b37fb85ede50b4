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
 * <h2>The carrier of a device</h2>
 *
 * {@link org.hghca.cm.CarrierKind}: the InfiniBand connection manager, in {@code .ib}, on a device
 * with queue pair 1 (GSI_QUEUE_PAIR); a handshake by TCP between the hosts, in {@code .tcp}, on any
 * other. A card that follows the interface document has queue pair 1 only as an extension.
 *
 * <h2>The way of a message</h2>
 *
 * With the InfiniBand connection manager a REQ goes out in two steps, on two threads. The caller of
 * rdma_connect leaves it in a queue:
 *
 * <pre>
 *   CmId.connect                  the identifier
 *     Calls.run                   a synchronous one waits here for the event
 *       ConnectionEnd.ask         its connection
 *         IbCarrier.connect       the carrier of the device
 *           MadAgent.ask          under the agent's lock, and then wakes the carrier's thread
 *             ActiveHandshake.begin
 *               Repetition.begin  sends now, and again until there is an answer
 *                 MadAgent.send
 *                   GsiTransport.send     into the queue
 * </pre>
 *
 * The carrier's thread takes it from there:
 *
 * <pre>
 *   GsiTransport.work
 *     GsiTransport.pollAndStep    once for each time that it is woken
 *       GsiTransport.flush        empties the queue
 *         GsiQueue.send           posts a UD send on queue pair 1
 * </pre>
 *
 * The answer, a REP, comes in on the carrier's thread:
 *
 * <pre>
 *   GsiTransport.pollAndStep
 *     GsiQueue.poll               polls the completion queue
 *       Engine.received           under the agent's lock
 *         Dispatcher.received     finds the handshake
 *           ActiveHandshake.receivedRep
 *             MadAgent.deliver    leaves the report to the step
 *     MadAgent.step               without a lock
 *       ConnectionEnd.replied     as HandshakeEvents
 *         Lifecycle.post          an event in the channel
 * </pre>
 *
 * The program's thread takes the event, rdma_get_cm_event:
 *
 * <pre>
 *   EventChannel.take
 *     CmId.onTaken
 *       ConnectionEnd.onTaken     brings the queue pair to RTS, and confirms by an RTU
 * </pre>
 *
 * With the carrier by TCP, {@code TcpHandshake} and {@code Link} are in the place of what is
 * between {@code ConnectionEnd} and the wire.
 *
 * <h2>Threads and locks</h2>
 *
 * The library opens devices, and reads sockets, on virtual threads; nothing of the program's runs
 * on them. Locks in their order:
 *
 * <ol>
 *   <li>The lock of an identifier, its {@code Lifecycle}, under which its queue pair is modified;
 *       of a listener before that of an identifier of its requests.
 *   <li>That of a carrier: one for all handshakes of a device with the InfiniBand connection
 *       manager, one for each handshake by TCP.
 *   <li>Those of an event channel, of the ports, of a device and of the counts of events, which are
 *       held briefly, but that devices are opened one at a time.
 * </ol>
 *
 * A carrier holds no lock when it reports.
 */
package org.hghca.cm;

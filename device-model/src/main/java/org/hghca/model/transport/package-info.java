/**
 * The InfiniBand transport services: reliable and unreliable connections and datagrams, each with a
 * sending and a receiving half that work on packets. Independent of registers and work queue
 * formats; the device provides contexts, work requests, memory by key and a sink for completions.
 *
 * <p>Classes are layers. {@code Transport} makes the halves ({@code Requester}, {@code Responder},
 * {@code UnreliableSender}, {@code UnreliableReceiver}, {@code DatagramReceiver}) and passes events
 * to them; the halves use {@code TransportParts}, what those of a device have in common; the parts
 * know a queue pair as an {@code Endpoint}, which knows its halves by their interfaces alone. Only
 * {@code PeerLoad} and {@code Turn} name each other: a load is the queue in which turns wait, and a
 * turn leaves the one in which it waits.
 *
 * <p>Packets of one message may pass as a run, see {@link org.hghca.wire.PacketRun}: what a run
 * does is what its packets would do one by one, and a half that cannot promise that refuses the
 * run.
 *
 * <p>Between events only the context of one queue pair is kept, that of the last one: {@link
 * org.hghca.model.transport.Transport#settle} stores it back before software reads or changes any.
 * What the device keeps is listed, with the rule for it, in {@code org.hghca.model.hca}.
 */
package org.hghca.model.transport;

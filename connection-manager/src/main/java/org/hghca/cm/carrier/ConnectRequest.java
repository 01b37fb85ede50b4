package org.hghca.cm.carrier;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrapMemory;

/**
 * What the active end asks for: the contents of a REQ, as the end that holds this record sees them.
 * Source addresses and the source of the path are always this end's own.
 *
 * @param serviceId what the passive end listens on, such as port space and port
 * @param local the address of this end
 * @param remote the address of the other end
 * @param path between the two, from this end
 * @param alternate a second path; from this end
 * @param type RC or UC
 * @param qpNumber of the queue pair of the end that asks; 24 bits
 * @param sharedReceiveQueue whether that queue pair has a shared receive queue
 * @param startingPsn from which the end that is asked starts to send; 24 bits
 * @param responderResources READs and atomics that the end that asks holds
 * @param initiatorDepth READs and atomics that the end that asks has outstanding
 * @param retryCount 3 bits
 * @param rnrRetry 3 bits
 * @param flowControl whether the end that asks gives credits
 * @param ackTimeout the code of the local ACK timeout; 5 bits
 * @param privateData of the application, without the header that names addresses
 * @param wrapMemory what the end that asks offers for the wrap of the peer's PSNs; not all carriers
 *     bring it to the peer
 */
public record ConnectRequest(
    long serviceId,
    InetSocketAddress local,
    InetSocketAddress remote,
    Path path,
    Optional<Path> alternate,
    QpType type,
    int qpNumber,
    boolean sharedReceiveQueue,
    int startingPsn,
    int responderResources,
    int initiatorDepth,
    int retryCount,
    int rnrRetry,
    boolean flowControl,
    int ackTimeout,
    PrivateData privateData,
    Optional<WrapMemory> wrapMemory) {}

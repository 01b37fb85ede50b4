package org.hghca.cm.carrier;

import java.util.Optional;
import org.hghca.verbs.WrapMemory;

/**
 * What the passive end answers: the contents of a REP, as the end that holds this record sees them.
 *
 * @param path between the two, from this end: at the active end that of its request, with what only
 *     the answer tells
 * @param qpNumber of the passive end's queue pair; 24 bits
 * @param sharedReceiveQueue whether that queue pair has a shared receive queue
 * @param startingPsn from which the active end starts to send; 24 bits
 * @param responderResources READs and atomics that the passive end holds
 * @param initiatorDepth READs and atomics that the passive end has outstanding
 * @param rnrRetry with which the active end repeats; 3 bits
 * @param flowControl whether the passive end gives credits
 * @param targetAckDelay the code of the longest time in which the passive end acknowledges; 5 bits
 * @param privateData of the application
 * @param wrapMemory what the passive end offers for the wrap of the active end's PSNs; not all
 *     carriers bring it to the peer
 */
public record ConnectReply(
    Path path,
    int qpNumber,
    boolean sharedReceiveQueue,
    int startingPsn,
    int responderResources,
    int initiatorDepth,
    int rnrRetry,
    boolean flowControl,
    int targetAckDelay,
    PrivateData privateData,
    Optional<WrapMemory> wrapMemory) {}

package org.hghca.verbs;

/**
 * The capacity of a queue pair: {@code ibv_qp_cap}.
 *
 * @param sendDepth outstanding send requests
 * @param receiveDepth outstanding receive requests
 * @param maxSendSge scatter/gather elements of a send request
 * @param maxReceiveSge scatter/gather elements of a receive request
 * @param maxInline bytes that a send request can carry in itself
 */
public record QueuePairCapabilities(
    int sendDepth, int receiveDepth, int maxSendSge, int maxReceiveSge, int maxInline) {}

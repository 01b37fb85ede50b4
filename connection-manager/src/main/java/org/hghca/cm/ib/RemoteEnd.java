package org.hghca.cm.ib;

/**
 * Something of a peer that has a number.
 *
 * @param caGuid of the peer's channel adapter
 * @param number a communication ID, or that of a queue pair
 */
record RemoteEnd(long caGuid, int number) {}

package org.hghca.cm.ib;

import org.hghca.verbs.Gid;

/**
 * Something of a peer that has a number. The address is a part of it, since that alone is not for
 * the sender to choose: nobody speaks for a peer at another address.
 *
 * @param gid of the peer
 * @param caGuid of the peer's channel adapter
 * @param number a communication ID, or that of a queue pair
 */
record RemoteEnd(Gid gid, long caGuid, int number) {}

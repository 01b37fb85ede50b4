package org.hghca.cm;

import java.net.InetSocketAddress;
import org.hghca.cm.carrier.Path;

/**
 * The way from an identifier to a service of its peer.
 *
 * @param serviceId port space and port of the peer
 * @param local the address of this end
 * @param remote the address of the peer
 * @param path between the two, from this end
 */
record Route(long serviceId, InetSocketAddress local, InetSocketAddress remote, Path path) {}

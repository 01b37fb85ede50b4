package org.hghca.cm.carrier;

import java.net.InetSocketAddress;

/**
 * The way from an identifier to a service of its peer.
 *
 * @param serviceId port space and port of the peer
 * @param local the address of this end
 * @param remote the address of the peer
 * @param path between the two, from this end
 */
public record Route(long serviceId, InetSocketAddress local, InetSocketAddress remote, Path path) {}

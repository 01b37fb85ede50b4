package org.hghca.cm.carrier;

import java.net.InetSocketAddress;

/**
 * The question which UD queue pair serves an address: the contents of a SIDR_REQ, as the end that
 * holds this record sees them.
 *
 * @param serviceId what the passive end listens on, such as port space and port
 * @param local the address of this end
 * @param remote the address of the other end
 * @param path between the two, from this end
 * @param privateData of the application, without the header that names addresses
 */
public record ServiceRequest(
    long serviceId,
    InetSocketAddress local,
    InetSocketAddress remote,
    Path path,
    PrivateData privateData) {}

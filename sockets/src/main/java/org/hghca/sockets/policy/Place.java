package org.hghca.sockets.policy;

import java.net.InetAddress;
import org.hghca.sockets.stream.StreamDevice;

/**
 * Where a local address is.
 *
 * @param address one of the device's
 */
public record Place(StreamDevice device, InetAddress address) {}

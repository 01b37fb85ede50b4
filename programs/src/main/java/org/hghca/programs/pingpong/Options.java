package org.hghca.programs.pingpong;

import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.verbs.Mtu;

/**
 * What a ping-pong is called with.
 *
 * @param device name or locator
 * @param server the host to connect to; empty at the server
 * @param tcpPort of the server
 * @param port of the device
 * @param size bytes of a message
 * @param mtu of the path; without meaning for datagrams
 * @param queuePairs 1 but where they share a receive queue
 * @param depth receives outstanding
 * @param iterations messages in each direction, over all queue pairs
 * @param serviceLevel of the path
 * @param events whether to sleep until completions come
 * @param gidIndex which GID of the port this end has; none sends no GID to the peer
 * @param check whether a client marks its message, and a server checks it
 */
public record Options(
    String device,
    Optional<String> server,
    int tcpPort,
    int port,
    int size,
    Mtu mtu,
    int queuePairs,
    int depth,
    int iterations,
    int serviceLevel,
    boolean events,
    OptionalInt gidIndex,
    boolean check) {}

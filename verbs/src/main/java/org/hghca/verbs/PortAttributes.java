package org.hghca.verbs;

/**
 * The state of a port: {@code ibv_port_attr} of an Ethernet port.
 *
 * @param state logical state
 * @param stateAssumed whether the state is assumed because it cannot be queried
 * @param maxMtu largest the port supports
 * @param activeMtu largest in use
 * @param gidTableLength entries
 * @param pkeyTableLength entries
 * @param maxMessageSize in bytes
 * @param lid local identifier; 0 on Ethernet
 * @param activeWidth code of {@code ibv_devinfo}: 1, 2, 4, 8 or 16
 * @param activeSpeed code of {@code ibv_devinfo}: 1 is 2.5 Gbps, 32 is 25 Gbps
 * @param mac Ethernet address, 48 bits
 */
public record PortAttributes(
    PortState state,
    boolean stateAssumed,
    Mtu maxMtu,
    Mtu activeMtu,
    int gidTableLength,
    int pkeyTableLength,
    long maxMessageSize,
    int lid,
    int activeWidth,
    int activeSpeed,
    long mac) {}

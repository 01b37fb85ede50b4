/**
 * What travels between ports: {@link org.hghca.wire.Packet}s as a RoCE network knows them, {@link
 * org.hghca.wire.EthernetPort}s, and the {@link org.hghca.wire.Medium} that joins them. {@link
 * org.hghca.wire.frame} has packets as frames.
 */
package org.hghca.wire;

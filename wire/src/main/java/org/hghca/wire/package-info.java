/**
 * What travels between ports: {@link org.hghca.wire.Packet}s as a RoCE network knows them, {@link
 * org.hghca.wire.EthernetPort}s, and the {@link org.hghca.wire.Medium} that joins them. {@link
 * org.hghca.wire.frame} has packets as frames, {@link org.hghca.wire.capture} writes and reads
 * files of them.
 */
package org.hghca.wire;

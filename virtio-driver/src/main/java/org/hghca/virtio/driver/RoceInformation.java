package org.hghca.virtio.driver;

import org.hghca.virtio.abi.roce.QueuePlan;

/**
 * What a network device says of RoCE, and what the driver uses of it.
 *
 * @param dialect by whose numbers the driver talks to it
 * @param feature the bit by which it offers RoCE
 * @param queues which queue belongs to which object
 * @param gids entries of the GID table
 * @param maxMessage bytes of a message, unsigned
 * @param commands that the driver has given
 */
public record RoceInformation(
    String dialect, int feature, QueuePlan queues, int gids, long maxMessage, long commands) {}

/**
 * The RoCE queues and control commands of a virtio network device. Source: the RFC "virtio-net:
 * Introduce the RoCE (RDMA over Converged Ethernet) support", version 2, called {@code rfc-v2}. No
 * version of the virtio specification contains it.
 *
 * <p>Structures are little-endian without hidden padding. The sender writes 0 into reserved and
 * padding bytes, and the receiver ignores them.
 */
package org.hghca.virtio.abi.roce;

/**
 * The driver of virtio-net devices with RoCE queues (RFC, dialect {@code rfc-v2}) as a provider of
 * verbs. The device has the transport; the driver gives it commands over the control queue, and
 * requests over the virtqueues of each completion queue and queue pair.
 *
 * <p>Locks are taken from the top of this list to the bottom: the monitor of an object of the
 * verbs; that of the table of numbers, which holds while a command creates or destroys a queue; the
 * ranks of {@link org.hghca.provider.queue.LockRank}. No command is given under a spin lock.
 *
 * <p>Context, protection domain, memory region, completion queue and queue pair name each other, as
 * the verbs do. Everything else is used by them and names none of them.
 */
package org.hghca.virtio.driver;

/**
 * A virtio device, version 1 or later, behind a PCI function: {@link org.hghca.virtio.VirtioDevice}
 * negotiates and starts it, a {@link org.hghca.virtio.Virtqueue} carries buffers to it and back,
 * and a {@link org.hghca.virtio.ControlQueue} carries commands.
 *
 * <p>Nothing that a device writes is trusted: what breaks the specification is a {@link
 * org.hghca.virtio.VirtioException}, after which the queue or the device stays failed.
 */
package org.hghca.virtio;

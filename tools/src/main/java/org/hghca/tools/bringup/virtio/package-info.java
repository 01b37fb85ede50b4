/** The steps on features, queues and commands of a virtio network device, without the driver. */
package org.hghca.tools.bringup.virtio;

/** The virtio network device. Source: the virtio specification, version 1. */
package org.hghca.virtio.abi.net;

/**
 * What all virtio devices have in common: the PCI transport, feature negotiation and split
 * virtqueues. Source: the virtio specification, version 1.
 */
package org.hghca.virtio.abi;

/**
 * The virtio network card of a software function: registers of the modern PCI transport, split
 * virtqueues, and a NIC. Everything in the memory of the guest is hostile: what breaks a rule is
 * recorded as a fault, and the card needs a reset.
 */
package org.hghca.model.virtio;

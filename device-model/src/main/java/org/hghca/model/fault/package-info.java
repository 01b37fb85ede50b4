/**
 * Faults of software cards, for those who test what finds faults: a card behind what changes its
 * registers, its accesses to memory and its interrupts.
 */
package org.hghca.model.fault;

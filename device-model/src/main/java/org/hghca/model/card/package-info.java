/**
 * What any software card has, whatever its registers are: its seam to the PCI function, access to
 * host memory, the queue of register writes, and the record of its faults.
 */
package org.hghca.model.card;

/** Memory that a device accesses through an I/O page table. */
package org.hghca.vfio.dma;

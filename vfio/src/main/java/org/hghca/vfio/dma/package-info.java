/** Memory that a device reaches through an I/O page table that another party keeps. */
package org.hghca.vfio.dma;

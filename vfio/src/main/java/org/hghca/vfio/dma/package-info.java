/** Memory that a device reaches through an I/O page table which somebody else keeps. */
package org.hghca.vfio.dma;

/** PCI functions whose device is an object of this process. */
package org.hghca.vfio.inprocess;

/**
 * From a PCI function to a device that works: which card it is and where its command register is,
 * when it may reach memory, and in which order it is brought up and taken down.
 */
package org.hghca.driver.bringup;

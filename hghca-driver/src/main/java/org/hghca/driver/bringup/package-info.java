/**
 * From a PCI function to a device that works: which card it is and where its command register is,
 * when it may reach memory, and in which order it is brought up and taken down. {@code BringUp} is
 * that order. (The command {@code hghca bringup} of docs/bring-up.md is something else: it tests a
 * board.)
 */
package org.hghca.driver.bringup;

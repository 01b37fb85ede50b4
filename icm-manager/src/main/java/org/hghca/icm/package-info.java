/**
 * Interconnect context memory: host memory in which the card keeps its contexts and translation
 * tables. It is laid out in a separate address space of the card and mapped there on demand ({@link
 * org.hghca.icm.IcmManager}).
 */
package org.hghca.icm;

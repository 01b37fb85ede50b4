/**
 * Interconnect context memory: host memory that the card keeps its contexts and translation tables
 * in, laid out in an address space of the card's own and mapped there on demand ({@link
 * org.hghca.icm.IcmManager}).
 */
package org.hghca.icm;

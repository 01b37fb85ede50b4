/** Layouts, bit ranges and codes of the card's interface. */
package org.hghca.abi;

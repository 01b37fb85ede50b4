/**
 * UAR pages: the registers through which a context tells the card that there is work. They are
 * written only; the card never answers a read of this region.
 */
package org.hghca.uar;

/**
 * UAR pages: the registers through which a context tells the card that there is work. They are only
 * written; the card never completes a read of this region.
 */
package org.hghca.uar;

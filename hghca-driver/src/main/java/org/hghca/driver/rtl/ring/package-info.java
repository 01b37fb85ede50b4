/**
 * Send and receive rings of the makers' RTL: how requests are checked before they are written, and
 * when each may be rung.
 *
 * <p>In the lock order of {@link org.hghca.driver}: posting receives is 4, posting sends 7, the
 * quota of requests in flight 9.
 */
package org.hghca.driver.rtl.ring;

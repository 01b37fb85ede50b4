/**
 * The send and receive rings of queue pairs: how requests are written and rung for.
 *
 * <p>In the lock order of {@link org.hghca.driver}: posting receives is 4, opening and closing a
 * send ring 6, posting sends 7.
 */
package org.hghca.driver.ring;

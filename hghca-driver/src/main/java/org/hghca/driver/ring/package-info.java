/**
 * The send and receive rings of queue pairs: how requests are checked, written and rung for, and
 * how many may be in flight on a card that bounds them.
 *
 * <p>In the lock order of {@link org.hghca.driver}: posting receives is 4, opening and closing a
 * send ring 6, posting sends 7, the budget of requests in flight 9.
 */
package org.hghca.driver.ring;

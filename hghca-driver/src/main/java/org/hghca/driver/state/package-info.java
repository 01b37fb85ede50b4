/**
 * The state of a queue pair, and its context as the card was given it last: how attributes of the
 * verbs get into a context, and what a card says of one.
 *
 * <p>Changed under the monitor of a queue pair, 1 in the lock order of {@link org.hghca.driver}; an
 * error changes a state by a compare-and-set, under any lock below.
 */
package org.hghca.driver.state;

/**
 * How a queue pair goes through its states, meets errors and ends, on a card that times out and
 * flushes by itself; and what every card family has to provide for that.
 *
 * <p>Works under the monitor of a queue pair, 1 in the lock order of {@link org.hghca.driver};
 * completions tell of errors under 5. It has no lock of its own.
 */
package org.hghca.driver.transition;

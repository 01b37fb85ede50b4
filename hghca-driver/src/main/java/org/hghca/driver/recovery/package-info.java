/**
 * How a queue pair goes through its states, meets errors and ends: by the card where it times out
 * and flushes itself; else by the driver, which finds sends that will not complete, has the card
 * follow into ERR, flushes in its stead and knows which numbers can be used again.
 *
 * <p>Works under the monitor of a queue pair, 1 in the lock order of {@link org.hghca.driver};
 * completions tell of errors under 5. It has no lock of its own.
 */
package org.hghca.driver.recovery;

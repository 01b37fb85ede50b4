/**
 * What a completion queue does with completions: the ring that the card writes, the parsers that
 * find out what it meant, what the driver completes in the card's stead, and when the completion
 * channel is told. Of a queue pair it knows the rings.
 *
 * <p>Under the lock of the completion queue, 5 in the lock order of {@link org.hghca.driver}.
 */
package org.hghca.driver.completion;

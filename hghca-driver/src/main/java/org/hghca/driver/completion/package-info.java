/**
 * Processing of completions: the ring that the card writes, the parser that determines the meaning
 * of an entry, the completions that the driver generates in place of the card, and the notification
 * of the completion channel. It uses only the rings of a queue pair.
 *
 * <p>Under the lock of the completion queue, 5 in the lock order of {@link org.hghca.driver}.
 */
package org.hghca.driver.completion;

/**
 * The objects of the verbs on a card, and the device whose they are: contexts, protection domains,
 * memory regions, address handles, queue pairs, completion queues and shared receive queues. They
 * name each other, as the verbs do, and are made of what the packages below hold.
 *
 * <p>In the lock order of {@link org.hghca.driver}: the monitor of each object is 1, that of a
 * context's counters 2, a posted receive is under 4, a completion queue under 5, a shared receive
 * queue of the card under 8.
 */
package org.hghca.driver.object;

/**
 * The driver of the JingZhao (HanGu) HCA as a provider of verbs: bring-up, resource tables, memory
 * registration, and the send, receive and completion rings.
 *
 * <h2>Lock order</h2>
 *
 * A thread takes locks from the top of this list to the bottom, and each kind at most once at a
 * time.
 *
 * <ol>
 *   <li>The monitor of an object of the verbs: a queue pair while it is modified, queried or
 *       closed, a memory region while it is registered again or closed, a shared receive queue
 *       while its capacity changes. Commands to the card are given under it, and nothing else that
 *       waits for the card. Polling and posting never take it.
 *   <li>The monitor of the counters of a context, under which its objects say what they have
 *       counted.
 *   <li>The lock of the device's event queues ({@code EventThread}), by the event thread and by
 *       whoever has to know that all events of the past were read.
 *   <li>{@link org.hghca.provider.LockRank#RECEIVES}: posting receives. A queue pair that shares
 *       receives has the lock of its shared receive queue, where the driver deals them.
 *   <li>{@link org.hghca.provider.LockRank#COMPLETIONS}: a completion queue. Completions change the
 *       state of a queue pair under it, by a compare-and-set and never by the monitor, and free
 *       slots of rings at their tails.
 *   <li>The monitor of a send ring, which orders those who open and close it.
 *   <li>{@link org.hghca.provider.LockRank#SENDS}: posting sends. Polling takes it to ring for
 *       requests that waited.
 *   <li>{@link org.hghca.provider.LockRank#SHARED_RECEIVES}: a shared receive queue of the card.
 *   <li>Locks that are held for moments, and under which nothing of ours is called: those of
 *       allocators, of the budget of requests in flight, of {@code Resource}, of event channels,
 *       which may be given events under any lock.
 * </ol>
 *
 * Four rules go with it. Events are raised and programs are called with no lock of a queue held.
 * Requests of other rings go on ({@code InFlightLimits.ringWaiting}) with none held either, since
 * each ring takes its own. Whoever finds out that the device is dead may hold any of them: what
 * follows from that takes those below only. The locks of the ranks are spin locks: nothing that
 * blocks, and no command, is under one; where assertions are enabled, {@link
 * org.hghca.provider.SpinLock} refuses another order.
 */
package org.hghca.driver;

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
 *       while its capacity changes. Commands to the card are the only waits for the card under it.
 *       Polling and posting never take it.
 *   <li>The monitor of the counters of a context, under which its objects report their counts.
 *   <li>The lock of the device's event queues ({@code EventThread}), by the event thread and by
 *       threads that must know that all earlier events were read.
 *   <li>{@link org.hghca.provider.queue.LockRank#RECEIVES}: posting receives. A queue pair that
 *       shares receives has the lock of its shared receive queue, if the driver distributes them.
 *   <li>{@link org.hghca.provider.queue.LockRank#COMPLETIONS}: a completion queue. Completions
 *       change the state of a queue pair under it, by a compare-and-set and never by the monitor,
 *       and free slots of rings at their tails.
 *   <li>The monitor of a send ring, which orders the threads that open and close it.
 *   <li>{@link org.hghca.provider.queue.LockRank#SENDS}: posting sends. Polling takes it to ring
 *       for waiting requests.
 *   <li>{@link org.hghca.provider.queue.LockRank#SHARED_RECEIVES}: a shared receive queue of the
 *       card.
 *   <li>Locks that are held briefly, and under which no other driver code is called: those of
 *       allocators, of the budget of requests in flight, of {@code Resource}, of event channels, to
 *       which events may be passed under any lock.
 * </ol>
 *
 * Four rules apply. Events are raised and programs are called without a lock of a queue. What waits
 * for completions continues ({@code CompletionParser.takeDue}) also without one, because each ring
 * takes its own. A thread that detects that the device is dead may hold any of them: the resulting
 * actions take only those below. The locks of the ranks are spin locks: nothing that blocks, and no
 * command, runs under one; with assertions enabled, {@link org.hghca.provider.queue.SpinLock}
 * refuses another order.
 */
package org.hghca.driver;

/**
 * The driver of the JingZhao (HanGu) HCA as a provider of verbs: bring-up, resource tables, memory
 * registration, and the send, receive and completion rings.
 *
 * <h2>How to read it</h2>
 *
 * A card that follows the interface document is driven by the packages below, each of which uses
 * only those after it. Start where your question is:
 *
 * <ul>
 *   <li>{@code .provider}: {@code HghcaDriver}, which claims a PCI function beneath the verbs;
 *   <li>{@code .bringup}: {@code BringUp}, from the function to the device;
 *   <li>{@code .object}: what the verbs name. ibv_post_send and ibv_poll_cq begin in {@code
 *       HghcaQueuePair.tryPostSend} and {@code HghcaCompletionQueue.poll}; {@code DocumentFamily}
 *       makes the parts of these objects;
 *   <li>{@code .transition}: {@code StateFlowByCard}, which is modify_qp;
 *   <li>{@code .state}: the state of a queue pair and its context on the card;
 *   <li>{@code .completion}: {@code CompletionParser} and {@code DocumentParser}, from an entry to
 *       a completion;
 *   <li>{@code .event}: event queues;
 *   <li>{@code .ring}: {@code SendRing} and {@code ReceiveRing}, from a request to an element and
 *       its doorbell;
 *   <li>{@code .memory}: regions, keys, and the memory of queues;
 *   <li>{@code .card}: how a card is reached, its limits and features;
 *   <li>{@code .trace}: records of a traced card.
 * </ul>
 *
 * Registers, commands, elements and entries are in {@code org.hghca.abi}, commands in {@code
 * org.hghca.mailbox}, doorbells in {@code org.hghca.uar}. What a class of these packages has for
 * subclasses, and what {@code CardFamily} asks that {@code DocumentFamily} answers by nothing, is
 * for cards of the makers' RTL: {@code .rtl} has all that only they need, and is named by {@code
 * .bringup} alone. docs/adr/0041 has the files of a post and of a poll in order; docs/hardware.md
 * says in which the cards differ.
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

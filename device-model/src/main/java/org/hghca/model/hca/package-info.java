/**
 * The card of the interface document: registers, command unit, interconnect context memory,
 * translation, work queues and completion queues in host memory.
 *
 * <p>What the card reads of its tables in host memory it keeps, since a look-up for each packet
 * would cost more than the packet. The rule: what is kept has the epoch in which it was read
 * ({@link org.hghca.model.card.HostMemory#epoch}) and is used only as long as that is the current
 * one ({@link org.hghca.model.card.HostMemory#current}). The epoch becomes another when the host
 * maps or unmaps memory, and each command that changes a table calls {@link
 * org.hghca.model.card.HostMemory#change} before it does. Outside of a step, and on a bus that does
 * not say whether its mappings change, no epoch is current. What can change otherwise is compared
 * as well. These are kept:
 *
 * <ul>
 *   <li>{@code TableEntries}: where entries of the MPT and contexts are.
 *   <li>{@code Region} in {@code TranslationTables}: MPT entries, by key.
 *   <li>{@code PageWindows}: windows to pages, by MTT entry; the entry is read again each time.
 *   <li>{@code QueueMemory}: the memory of a queue, by key and protection domain.
 *   <li>{@code PlacedRing}: whether a ring is in one stretch of that; also by the number of the
 *       context's reading, or of the completion queue's resizes.
 *   <li>the last context in {@code QueuePairTable}; also by the number of commands.
 *   <li>the context of a queue in {@code CompletionQueues}; a command for the queue drops it.
 * </ul>
 */
package org.hghca.model.hca;

package org.hghca.driver.object;

import org.hghca.driver.card.Card;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.queue.RingNumbers;

/**
 * The parts of a device of which a {@link CardFamily} is made.
 *
 * @param queuePairs those of the device
 * @param rings theirs, for completions
 * @param endKey the first index without a memory key
 * @param deliverEvents delivers all events that the card has written so far
 */
public record DeviceParts(
    Card card,
    QpTable<? extends DriverQueuePair> queuePairs,
    QpTable<QueuePairRings> rings,
    RingNumbers<ReceivePosition> qpNumbers,
    RingNumbers<Integer> cqNumbers,
    NumberAllocator pdNumbers,
    QueueMemory queueMemory,
    int endKey,
    Runnable deliverEvents) {}

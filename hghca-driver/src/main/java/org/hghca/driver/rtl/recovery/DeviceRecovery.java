package org.hghca.driver.rtl.recovery;

import org.hghca.driver.card.Card;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.queue.RingNumbers;

/**
 * The state that the state flows share, on a card that neither times out nor flushes.
 *
 * @param numbers of queue pairs, with the ring slots at which the card continues
 * @param queuePairs queue pairs of the device
 */
public record DeviceRecovery(
    Card card,
    DoorbellQuota inFlight,
    RingNumbers<ReceivePosition> numbers,
    QpTable<? extends DriverQueuePair> queuePairs,
    SoftwareMaintenance maintenance,
    RecoveryCounts counts) {}

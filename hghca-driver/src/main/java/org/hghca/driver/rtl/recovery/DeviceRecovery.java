package org.hghca.driver.rtl.recovery;

import org.hghca.driver.card.Card;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.recovery.RecoveredQueuePair;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.provider.queue.RingNumbers;

/**
 * The state that the error flows share, on a card that neither times out nor flushes.
 *
 * @param numbers of queue pairs, with the ring slots at which the card continues
 * @param queuePairs queue pairs of the device
 */
public record DeviceRecovery(
    Card card,
    DoorbellQuota inFlight,
    RingNumbers<ReceivePosition> numbers,
    QpTable<? extends RecoveredQueuePair> queuePairs,
    SoftwareMaintenance maintenance,
    RecoveryCounts counts) {}

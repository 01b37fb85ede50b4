package org.hghca.driver.recovery;

import org.hghca.driver.card.Card;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.ring.InFlightLimits;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.provider.RingNumbers;

/**
 * The state that the error flows share, on a card that neither times out nor flushes.
 *
 * @param numbers of queue pairs, with the ring slots at which the card continues
 * @param queuePairs queue pairs of the device
 */
public record DeviceRecovery(
    Card card,
    InFlightLimits inFlight,
    RingNumbers<ReceivePosition> numbers,
    QpTable<? extends RecoveredQueuePair> queuePairs,
    SoftwareMaintenance maintenance,
    RecoveryCounts counts) {}

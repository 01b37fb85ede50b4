package org.hghca.driver;

import org.hghca.provider.RingNumbers;

/**
 * The state that the error flows share, on a card that neither times out nor flushes.
 *
 * @param numbers of queue pairs, with the ring slots at which the card continues
 * @param queuePairs queue pairs of the device
 */
record DeviceRecovery(
    Card card,
    InFlightLimits inFlight,
    RingNumbers<ReceivePosition> numbers,
    QpTable<? extends RecoveredQueuePair> queuePairs,
    SoftwareMaintenance maintenance,
    RecoveryCounts counts) {}

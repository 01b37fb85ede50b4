package org.hghca.driver;

import org.hghca.provider.RingNumbers;

/**
 * What the error flows of a device share whose card neither times out nor flushes.
 *
 * @param numbers of queue pairs, with the slots of their rings where the card goes on
 * @param queuePairs those of the device
 */
record DeviceRecovery(
    Card card,
    InFlightLimits inFlight,
    RingNumbers<ReceivePosition> numbers,
    QpTable<? extends RecoveredQueuePair> queuePairs,
    SoftwareMaintenance maintenance,
    RecoveryCounts counts) {}

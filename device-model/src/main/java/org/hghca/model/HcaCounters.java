package org.hghca.model;

import java.util.Map;
import org.hghca.wire.DropCause;

/**
 * The counters of a software HCA since its creation; read without stopping it, so that they need
 * not be consistent with each other.
 *
 * @param commands HCR commands
 * @param doorbells send doorbells
 * @param completions CQEs written
 * @param events EQEs written
 * @param interrupts interrupts raised
 * @param eventOverruns events that found their event queue full and had to wait
 * @param packetsSent packets given to the port
 * @param packetsReceived packets taken from the port
 * @param packetsDropped packets dropped, for any cause
 * @param queueKeyViolations datagrams dropped for their Q_Key
 * @param packetsDamaged packets that the port dropped because a bit was flipped on the way
 * @param retries times that a requester began to repeat packets
 * @param timeouts times that an acknowledgement did not come in time
 * @param naksSent NAKs as responder, without those for lack of a receive buffer
 * @param naksReceived NAKs as requester, all of them
 * @param rnrNaksSent NAKs as responder for lack of a receive buffer
 * @param rnrNaksReceived NAKs as requester for lack of a receive buffer
 * @param congestionMarks packets that came with a mark of congestion
 * @param notificationsSent congestion notifications sent, to the senders of marked packets
 * @param notificationsReceived congestion notifications that have slowed a queue pair down
 * @param duplicates repeated requests received
 * @param psnWraps how often the PSN of a reliable connection wrapped as requester
 * @param faults faults recorded
 * @param drops packets dropped by their cause; causes that were not met are left out
 */
public record HcaCounters(
    long commands,
    long doorbells,
    long completions,
    long events,
    long interrupts,
    long eventOverruns,
    long packetsSent,
    long packetsReceived,
    long packetsDropped,
    long queueKeyViolations,
    long packetsDamaged,
    long retries,
    long timeouts,
    long naksSent,
    long naksReceived,
    long rnrNaksSent,
    long rnrNaksReceived,
    long congestionMarks,
    long notificationsSent,
    long notificationsReceived,
    long duplicates,
    long psnWraps,
    long faults,
    Map<DropCause, Long> drops) {}

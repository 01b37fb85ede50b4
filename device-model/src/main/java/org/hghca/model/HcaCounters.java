package org.hghca.model;

/**
 * What a software HCA has done since it was made; read without stopping it, so that the numbers
 * need not belong to one moment.
 *
 * @param commands HCR commands
 * @param doorbells send doorbells
 * @param completions CQEs written
 * @param events EQEs written
 * @param interrupts interrupts raised
 * @param eventOverruns events that found their event queue full and had to wait
 * @param packetsSent packets given to the port
 * @param packetsReceived packets taken from the port
 * @param packetsDropped packets for nobody, or for a queue pair that does not receive
 * @param retries times that a requester began to repeat packets
 * @param timeouts times that an acknowledgement did not come in time
 * @param naksSent NAKs as responder, without those for want of a receive buffer
 * @param naksReceived NAKs as requester, all of them
 * @param rnrNaksSent NAKs as responder for want of a receive buffer
 * @param rnrNaksReceived NAKs as requester for want of a receive buffer
 * @param duplicates requests that came again
 * @param faults faults recorded
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
    long retries,
    long timeouts,
    long naksSent,
    long naksReceived,
    long rnrNaksSent,
    long rnrNaksReceived,
    long duplicates,
    long faults) {}

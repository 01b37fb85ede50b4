package org.hghca.model.card;

import org.hghca.model.transport.TransportCounters;

/**
 * What a card has counted since its creation.
 *
 * @param commands executed
 * @param doorbells rung, or queues notified
 * @param completions written
 * @param events written; 0 on a card without event queues
 * @param interrupts raised
 * @param eventOverruns events that found their queue full and had to wait
 * @param transport of its packets; goes on counting
 */
public record CardCounters(
    long commands,
    long doorbells,
    long completions,
    long events,
    long interrupts,
    long eventOverruns,
    TransportCounters transport) {}

package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;

/**
 * A work queue's memory and its layout.
 *
 * @param memory memory that the card reads
 * @param qpn the queue pair's number
 * @param depth maximum number of outstanding requests, at most {@code slots}
 * @param slots a power of two
 * @param strideLog logarithm of a slot's bytes
 */
public record RingShape(MemorySegment memory, int qpn, int depth, int slots, int strideLog) {}

package org.hghca.driver;

import java.util.OptionalLong;

/**
 * The use of packet sequence numbers since the last reset of the makers' RTL, on which no SEND or
 * WRITE of a reliable connection may have the last one, FFFFFFh.
 *
 * @param fewestLeft the number of packets before it of the queue pair with the fewest, of those
 *     that end there; empty if there are none
 * @param carriedWraps how often READs took a queue pair over it
 * @param carryingReads number of these READs
 * @param ended how many queue pairs ended before it
 */
public record PsnUse(OptionalLong fewestLeft, long carriedWraps, long carryingReads, long ended) {}

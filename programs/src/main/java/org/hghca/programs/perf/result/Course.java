package org.hghca.programs.perf.result;

/**
 * The rate of messages over the time of a measurement by time.
 *
 * @param size bytes of a message
 * @param seconds ends of its parts, from the beginning of the measurement on; increasing
 * @param perSecond messages a second in each part
 */
public record Course(long size, double[] seconds, double[] perSecond) {}

package org.hghca.tools.demo;

/**
 * The performance of message exchange between two devices.
 *
 * @param messagesPerSecond RDMA WRITEs of 8 bytes
 * @param megabytesPerSecond RDMA WRITEs of large messages, in 10^6 bytes
 * @param roundTrips SENDs of 8 bytes back and forth
 * @param writeRoundTrips RDMA WRITEs of 8 bytes back and forth
 */
record Speeds(
    double messagesPerSecond,
    double megabytesPerSecond,
    RoundTrips roundTrips,
    RoundTrips writeRoundTrips) {}

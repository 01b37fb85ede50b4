package org.hghca.verbs;

/**
 * Recommendations for programs on a device.
 *
 * @param destinationAlignment bytes to which receive buffers, READ results and targets of peers'
 *     WRITEs should be aligned, and of which every element but a request's last should be a
 *     multiple; 1 where any alignment works
 * @param doorbellsInFlight send requests that the card holds at a time, over all queue pairs; more
 *     are posted and wait in the driver. 0 where there is no limit
 * @param outstanding send requests of one queue pair that may be outstanding on the card; more are
 *     posted and wait in the driver until earlier ones complete. 0 where there is no limit
 * @param readBytes bytes that RDMA READs fetch at a time, over all queue pairs; longer ones are
 *     split into consecutive pieces. 0 where there is no limit
 * @param receivesAhead whether a queue pair must have receives for all that its peer may have in
 *     flight, before the peer may send: one message without a receive ends the connection
 * @param keysPerQueuePair maximum number of memory keys that a queue pair takes from {@link
 *     DeviceAttributes#maxMr}: a card needs one for each ring, and none for receives if the queue
 *     pair has no receives of its own; 0 where rings share keys. A completion queue takes one on
 *     every device
 */
public record DeviceAdvice(
    int destinationAlignment,
    int doorbellsInFlight,
    int outstanding,
    int readBytes,
    boolean receivesAhead,
    int keysPerQueuePair) {
  /** For a device without restrictions. */
  public static final DeviceAdvice NONE = new DeviceAdvice(1, 0, 0, 0, false, 0);
}

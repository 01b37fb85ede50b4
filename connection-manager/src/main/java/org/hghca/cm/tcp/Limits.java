package org.hghca.cm.tcp;

import java.time.Duration;

/**
 * How long and how much the TCP carrier waits.
 *
 * @param connect for the socket to be connected
 * @param request for a peer to send its whole request
 * @param answer for the peer's program to answer: as long as the InfiniBand CM repeats its REQ; at
 *     the peer also for room in the listener's backlog
 * @param confirmation for the confirmation of a reply, and for the answer to a disconnect
 * @param offer before a request that the listener had no room for is offered again
 * @param halfOpen requests that a listener reads at a time; more wait in the kernel
 */
record Limits(
    Duration connect,
    Duration request,
    Duration answer,
    Duration confirmation,
    Duration offer,
    int halfOpen) {
  static final Limits DEFAULT =
      new Limits(
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(74),
          Duration.ofSeconds(61),
          Duration.ofMillis(50),
          64);
}

package org.hghca.tools.bringup.board;

import org.hghca.abi.HardwareProfile;

/**
 * What a device is known to do, apart from what its driver says.
 *
 * @param name of the kind of device
 * @param atomics whether it has atomic operations
 * @param zeroLength whether it has messages without data
 * @param immediateDelivered whether the receiver gets the immediate
 * @param destinationAlignment of data in memory, in bytes
 * @param requestsOutstanding of a queue pair that are safe on the device
 * @param requestsInFlight of all queue pairs that the device can have
 * @param keysSafe whether a wrong local key harms only its queue pair
 * @param errorCompletions whether a wrong remote key gives an error
 * @param exactErrors whether that error has its cause
 * @param flushes whether the device flushes a queue pair, instead of the driver
 * @param retries whether it retries after a time-out, and without a receive
 * @param events whether it raises events, instead of the driver
 * @param eventQueues whether events are entries of queues
 * @param needsCleanState whether state of an earlier program that is not reset misleads it
 * @param datagramsAlone whether a datagram completes without an answer
 */
public record Abilities(
    String name,
    boolean atomics,
    boolean zeroLength,
    boolean immediateDelivered,
    int destinationAlignment,
    int requestsOutstanding,
    int requestsInFlight,
    boolean keysSafe,
    boolean errorCompletions,
    boolean exactErrors,
    boolean flushes,
    boolean retries,
    boolean events,
    boolean eventQueues,
    boolean needsCleanState,
    boolean datagramsAlone) {
  /** A virtio network device with RoCE. */
  static final Abilities VIRTIO =
      new Abilities(
          "virtio",
          false,
          true,
          true,
          1,
          HardwareProfile.UNBOUNDED,
          HardwareProfile.UNBOUNDED,
          true,
          true,
          true,
          true,
          true,
          true,
          false,
          false,
          true);

  /** A card of a profile. */
  public static Abilities of(HardwareProfile profile) {
    return new Abilities(
        profile.name(),
        profile.atomics(),
        profile.zeroLength(),
        profile.immediateDelivered(),
        profile.destinationAlignment(),
        profile.requestsOutstanding(),
        profile.requestsInFlight(),
        profile == HardwareProfile.S,
        profile.errorCqes(),
        profile.errorCqeHasSyndrome(),
        profile.flushesInHardware(),
        profile.rnrAndTimeoutInHardware(),
        profile.eventQueues(),
        profile.eventQueues(),
        profile != HardwareProfile.S,
        profile != HardwareProfile.R2);
  }
}

package org.hghca.programs.perf.run;

import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.verbs.DeviceAttributes;

/** Whether the device has queues as deep as they are wanted. */
final class DeviceRoom {
  private final Parameters.Queues queues;
  private final DeviceAttributes device;

  private DeviceRoom(Parameters.Queues queues, DeviceAttributes device) {
    this.queues = queues;
    this.device = device;
  }

  /**
   * Checks both queues of all queue pairs, and their completion queues.
   *
   * @throws PerfException when there is one too many, with an option that fits
   */
  static void check(Parameters.Queues queues, DeviceAttributes device) {
    DeviceRoom room = new DeviceRoom(queues, device);
    room.check("-t", queues.sendDepth());
    room.check("-r", queues.receiveDepth());
  }

  private void check(String option, int depth) {
    int pairs = queues.pairs();
    if (depth > device.maxQpWr()) {
      throw new PerfException(
          "%s %d is more than the device's queues take: %s %d fits"
              .formatted(option, depth, option, fitting()));
    }
    if (pairs > device.maxQp()) {
      throw new PerfException(
          "-q %d is more than the device has: -q %d fits".formatted(pairs, device.maxQp()));
    }
    long entries = (long) pairs * depth;
    if (entries > device.maxCqe()) {
      throw new PerfException(
          ("-q %d with %s %d needs a completion queue of %d entries, and the device's have %d:"
                  + " %s fits")
              .formatted(
                  pairs,
                  option,
                  depth,
                  entries,
                  device.maxCqe(),
                  fitting() > 0
                      ? "%s %d".formatted(option, fitting())
                      : "-q %d".formatted(device.maxCqe() / 2)));
    }
  }

  /** One less for each queue pair than there are entries: some drivers need one of their own. */
  private int fitting() {
    return Math.min(device.maxQpWr(), device.maxCqe() / queues.pairs() - 1);
  }
}

package org.hghca.driver.card;

import java.util.Set;
import java.util.random.RandomGenerator;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MulticastGroup;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WorkQueueLimits;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpType;

/**
 * The limits of the device: its own (QUERY_DEV_LIM), reduced to those that work on its profile.
 *
 * @param extensions the announced extensions that are used
 * @param outstanding maximum number of outstanding requests of one queue pair on the card, as
 *     configured
 * @param inFlight maximum number of requests in flight of all queue pairs, as configured
 */
public record Limits(
    DeviceLimits device,
    HardwareProfile profile,
    Set<DeviceExtension> extensions,
    int outstanding,
    int inFlight) {
  private static final int UNIT = 16;

  /** The parts of a descriptor besides inline data: next unit, remote address unit, header. */
  private static final int INLINE_OVERHEAD = 2 * UNIT + 4;

  /** Whether an extension of the device is announced and used. */
  public boolean has(DeviceExtension extension) {
    return extensions.contains(extension);
  }

  /** Without the reserved ones. */
  public int firstQp() {
    return device.reservedQps();
  }

  public int endQp() {
    return Math.min(device.maxQps(), profile.qpnLimit());
  }

  /**
   * The queue pair number that is allocated first. Where connections are made by the InfiniBand CM,
   * it is any: after a restart of the process, peers may still hold connections to the numbers of
   * the one before.
   */
  public int startQp(RandomGenerator random) {
    return has(DeviceExtension.GSI_QUEUE_PAIR) ? random.nextInt(firstQp(), endQp()) : firstQp();
  }

  public int firstCq() {
    return device.reservedCqs();
  }

  public int endCq() {
    return Math.min(device.maxCqs(), profile.cqnLimit());
  }

  /** The largest ring of a completion queue, a power of two. */
  public int maxCqRing() {
    return device.maxCqSize();
  }

  /** The flags of each receive of a queue pair: of datagrams, whether a header precedes them. */
  public int receiveFlags(QpType type) {
    return type == QpType.UD && profile.grhPlaced() ? Completions.GRH : 0;
  }

  /** The maximum number of requests of one queue pair in the largest completion queue. */
  public int maxCqEntries() {
    return device.maxCqSize() - ownElements();
  }

  /** One slot of a receive ring always stays empty. */
  public int maxQpWr() {
    return device.maxQpSize() - 1;
  }

  /** The driver's own elements in a send ring: one, which makes a card in ERR flush. */
  public int ownElements() {
    return profile.flushesInHardware() ? 0 : 1;
  }

  public int maxSge() {
    return Math.min(device.maxSg(), WorkQueueLimits.MAX_SGE);
  }

  public int maxReceiveSge() {
    return Math.min(device.maxSgRq(), WorkQueueLimits.MAX_SGE);
  }

  /**
   * Shared receive queues: as many as there may be queue pairs; none if a receiving queue pair must
   * never be without a request, which queue pairs that share cannot guarantee.
   */
  public int maxSrq() {
    return profile.rnrAndTimeoutInHardware() ? endQp() - firstQp() : 0;
  }

  public int maxSrqWr() {
    return maxSrq() == 0 ? 0 : maxQpWr();
  }

  public int maxSrqSge() {
    return maxSrq() == 0 ? 0 : maxReceiveSge();
  }

  public int maxMulticastGroups() {
    return has(DeviceExtension.MULTICAST) ? MulticastGroup.GROUPS : 0;
  }

  /** Queue pairs of one multicast group. */
  public int maxMulticastAttach() {
    return has(DeviceExtension.MULTICAST) ? MulticastGroup.QUEUE_PAIRS : 0;
  }

  public int maxInline() {
    return Math.min(device.maxDescSize(), WorkQueueLimits.MAX_WQE_BYTES) - INLINE_OVERHEAD;
  }

  /** A datagram's address is longer than a remote address. */
  public int maxInline(QpType type) {
    return type == QpType.UD ? maxInline() - (UdUnit.SIZE - UNIT) : maxInline();
  }

  /** READs and atomics in flight: three bits of logarithm hold 128, and 16 are plenty. */
  public int maxReadAtomic() {
    return 16;
  }
}

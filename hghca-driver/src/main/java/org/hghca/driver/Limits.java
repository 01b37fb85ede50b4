package org.hghca.driver;

import java.util.Set;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.UdUnit;
import org.hghca.verbs.QpType;

/**
 * What the device can take: what it says itself (QUERY_DEV_LIM), cut to what its profile knows to
 * work.
 *
 * @param extensions what of the announced is used
 * @param outstanding requests of one queue pair that the card may be told of before it completes
 *     one, as its user takes the risk
 */
record Limits(
    DeviceLimits device,
    HardwareProfile profile,
    Set<DeviceExtension> extensions,
    int outstanding) {
  private static final int UNIT = 16;

  /** What a descriptor holds besides inline data: next unit, remote address unit, header. */
  private static final int INLINE_OVERHEAD = 2 * UNIT + 4;

  /** Whether the device does something beyond the interface document, and is asked to. */
  boolean has(DeviceExtension extension) {
    return extensions.contains(extension);
  }

  /** Beyond the reserved ones. */
  int firstQp() {
    return device.reservedQps();
  }

  int endQp() {
    return Math.min(device.maxQps(), profile.qpnLimit());
  }

  int firstCq() {
    return device.reservedCqs();
  }

  int endCq() {
    return Math.min(device.maxCqs(), profile.cqnLimit());
  }

  /** The largest ring of a completion queue, a power of two. */
  int maxCqRing() {
    return device.maxCqSize();
  }

  /** What the largest completion queue takes from one queue pair. */
  int maxCqEntries() {
    return device.maxCqSize() - ownElements();
  }

  /** One slot of a receive ring always stays empty. */
  int maxQpWr() {
    return device.maxQpSize() - 1;
  }

  /** Elements of our own in a send ring: one, upon which a card that is in ERR flushes. */
  int ownElements() {
    return profile.flushesInHardware() ? 0 : 1;
  }

  int maxSge() {
    return Math.min(device.maxSg(), profile.maxSendSge());
  }

  int maxReceiveSge() {
    return Math.min(device.maxSgRq(), profile.maxReceiveSge());
  }

  /**
   * Shared receive queues: as many as there may be queue pairs; none where a queue pair that
   * receives must never be without a request, which those that share cannot promise each other.
   */
  int maxSrq() {
    return profile.rnrAndTimeoutInHardware() ? endQp() - firstQp() : 0;
  }

  int maxSrqWr() {
    return maxSrq() == 0 ? 0 : maxQpWr();
  }

  int maxSrqSge() {
    return maxSrq() == 0 ? 0 : maxReceiveSge();
  }

  int maxInline() {
    return Math.min(device.maxDescSize(), profile.maxDescriptor()) - INLINE_OVERHEAD;
  }

  /** A datagram's address is longer than a remote address. */
  int maxInline(QpType type) {
    return type == QpType.UD ? maxInline() - (UdUnit.SIZE - UNIT) : maxInline();
  }

  /** READs and atomics in flight: three bits of logarithm hold 128, and 16 are plenty. */
  int maxReadAtomic() {
    return 16;
  }
}

package org.hghca.driver.card;

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
 * @param outstanding requests of one queue pair that may be outstanding on the card, as its user
 *     accepts the risk
 */
public record Limits(
    DeviceLimits device,
    HardwareProfile profile,
    Set<DeviceExtension> extensions,
    int outstanding) {
  private static final int UNIT = 16;

  /** What a descriptor holds besides inline data: next unit, remote address unit, header. */
  private static final int INLINE_OVERHEAD = 2 * UNIT + 4;

  /** Whether the device does something beyond the interface document, and is asked to. */
  public boolean has(DeviceExtension extension) {
    return extensions.contains(extension);
  }

  /** Beyond the reserved ones. */
  public int firstQp() {
    return device.reservedQps();
  }

  public int endQp() {
    return Math.min(device.maxQps(), profile.qpnLimit());
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

  /** What the largest completion queue takes from one queue pair. */
  public int maxCqEntries() {
    return device.maxCqSize() - ownElements();
  }

  /** One slot of a receive ring always stays empty. */
  public int maxQpWr() {
    return device.maxQpSize() - 1;
  }

  /** Elements of our own in a send ring: one, upon which a card that is in ERR flushes. */
  public int ownElements() {
    return profile.flushesInHardware() ? 0 : 1;
  }

  public int maxSge() {
    return Math.min(device.maxSg(), profile.maxSendSge());
  }

  public int maxReceiveSge() {
    return Math.min(device.maxSgRq(), profile.maxReceiveSge());
  }

  /**
   * Shared receive queues: as many as there may be queue pairs; none where a queue pair that
   * receives must never be without a request, which those that share cannot promise each other.
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

  public int maxInline() {
    return Math.min(device.maxDescSize(), profile.maxDescriptor()) - INLINE_OVERHEAD;
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

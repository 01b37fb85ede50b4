package org.hghca.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a device is and can do: {@code ibv_device_attr}, less what no device here has (datagram
 * domains, raw queue pairs, fast registration), which is 0.
 *
 * @param firmwareVersion empty when the device has none
 * @param nodeGuid EUI-64
 * @param systemImageGuid EUI-64
 * @param vendorId PCI vendor
 * @param vendorPartId PCI device
 * @param hardwareVersion PCI revision
 * @param boardId the maker's text for the board, if known
 * @param physicalPorts number of ports
 * @param maxMrSize largest memory region in bytes
 * @param pageSizes a bit for each page size
 * @param maxQp queue pairs; as many can be made at a time where {@link
 *     DeviceAdvice#keysPerQueuePair} is 0, else as many as {@code maxMr} has keys for
 * @param maxQpWr outstanding work requests of one queue
 * @param maxSge scatter/gather elements of one work request
 * @param maxSgeRead the same for an RDMA READ
 * @param maxCq completion queues
 * @param maxCqe entries of one completion queue
 * @param maxMr memory regions, and rings that need a key: see {@link DeviceAdvice#keysPerQueuePair}
 * @param maxPd protection domains
 * @param maxQpReadAtomic READs and atomics that a queue pair serves at a time
 * @param maxReadAtomic READs and atomics that the device serves at a time
 * @param maxQpInitiatorReadAtomic READs and atomics that a queue pair may have outstanding
 * @param atomics whether atomic operations exist
 * @param maxSrq shared receive queues, 0 where there are none
 * @param maxSrqWr outstanding requests of one shared receive queue
 * @param maxSrqSge scatter/gather elements of one of its requests
 * @param maxPkeys P_Key table entries
 * @param localAckDelay as 4.096 us * 2^n
 * @param maxInline bytes that a send request can carry in itself
 * @param remoteBoundsGranularity how exactly the device checks the bounds of remote accesses, in
 *     bytes: 1 is to the byte
 * @param completionVectors interrupt vectors for completions
 * @param features all that there are, and who does what they promise
 * @param advice what a program does well to heed
 */
public record DeviceAttributes(
    String firmwareVersion,
    long nodeGuid,
    long systemImageGuid,
    int vendorId,
    int vendorPartId,
    int hardwareVersion,
    Optional<String> boardId,
    int physicalPorts,
    long maxMrSize,
    long pageSizes,
    int maxQp,
    int maxQpWr,
    int maxSge,
    int maxSgeRead,
    int maxCq,
    int maxCqe,
    int maxMr,
    int maxPd,
    int maxQpReadAtomic,
    int maxReadAtomic,
    int maxQpInitiatorReadAtomic,
    boolean atomics,
    int maxSrq,
    int maxSrqWr,
    int maxSrqSge,
    int maxPkeys,
    int localAckDelay,
    int maxInline,
    int remoteBoundsGranularity,
    int completionVectors,
    Map<DeviceFeature, FeatureSupport> features,
    DeviceAdvice advice) {
  /**
   * Attributes.
   *
   * @throws IllegalArgumentException when a feature is not among the map's keys
   */
  public DeviceAttributes {
    features = Collections.unmodifiableMap(new EnumMap<>(features));
    if (features.size() != DeviceFeature.values().length) {
      throw new IllegalArgumentException("not all features are told of: " + features.keySet());
    }
  }

  /** Who does what a feature promises. */
  public FeatureSupport support(DeviceFeature feature) {
    return features.get(feature);
  }

  /** Whether anybody does it. */
  public boolean has(DeviceFeature feature) {
    return support(feature) != FeatureSupport.MISSING;
  }
}

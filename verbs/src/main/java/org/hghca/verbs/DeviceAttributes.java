package org.hghca.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Identity and limits of a device: {@code ibv_device_attr}, except for attributes that no device
 * here has (datagram domains, raw queue pairs, fast registration), which are 0. Immutable. Later
 * versions may add attributes; a provider that does not set one leaves it 0.
 */
public final class DeviceAttributes {
  private final Builder values;

  private DeviceAttributes(Builder values) {
    this.values = values;
  }

  /** For providers: all attributes 0, all features missing, no quirks and no advice. */
  public static Builder builder() {
    return new Builder();
  }

  /** Empty when the device has none. */
  public String firmwareVersion() {
    return values.firmwareVersion;
  }

  /** EUI-64. */
  public long nodeGuid() {
    return values.nodeGuid;
  }

  /** EUI-64. */
  public long systemImageGuid() {
    return values.systemImageGuid;
  }

  /** PCI vendor. */
  public int vendorId() {
    return values.vendorId;
  }

  /** PCI device. */
  public int vendorPartId() {
    return values.vendorPartId;
  }

  /** PCI revision. */
  public int hardwareVersion() {
    return values.hardwareVersion;
  }

  /** The maker's text for the board, if known. */
  public Optional<String> boardId() {
    return Optional.ofNullable(values.boardId);
  }

  /** Number of ports. */
  public int physicalPorts() {
    return values.physicalPorts;
  }

  /** Largest memory region in bytes. */
  public long maxMrSize() {
    return values.maxMrSize;
  }

  /** A bit for each page size. */
  public long pageSizes() {
    return values.pageSizes;
  }

  /**
   * Queue pairs; as many can exist at a time where {@link DeviceAdvice#keysPerQueuePair} is 0, else
   * as many as {@link #maxMr} has keys for.
   */
  public int maxQp() {
    return values.maxQp;
  }

  /** Outstanding work requests of one queue. */
  public int maxQpWr() {
    return values.maxQpWr;
  }

  /** Scatter/gather elements of one work request. */
  public int maxSge() {
    return values.maxSge;
  }

  /** Scatter/gather elements of an RDMA READ. */
  public int maxSgeRead() {
    return values.maxSgeRead;
  }

  /** Completion queues. */
  public int maxCq() {
    return values.maxCq;
  }

  /** Entries of one completion queue. */
  public int maxCqe() {
    return values.maxCqe;
  }

  /** Memory regions, and rings that need a key: see {@link DeviceAdvice#keysPerQueuePair}. */
  public int maxMr() {
    return values.maxMr;
  }

  /** Protection domains. */
  public int maxPd() {
    return values.maxPd;
  }

  /** READs and atomics that a queue pair serves at a time. */
  public int maxQpReadAtomic() {
    return values.maxQpReadAtomic;
  }

  /** READs and atomics that the device serves at a time. */
  public int maxReadAtomic() {
    return values.maxReadAtomic;
  }

  /** READs and atomics that a queue pair may have outstanding. */
  public int maxQpInitiatorReadAtomic() {
    return values.maxQpInitiatorReadAtomic;
  }

  /** Whether atomic operations are supported. */
  public boolean atomics() {
    return values.atomics;
  }

  /** Maximum number of shared receive queues, 0 if there are none. */
  public int maxSrq() {
    return values.maxSrq;
  }

  /** Outstanding requests of one shared receive queue. */
  public int maxSrqWr() {
    return values.maxSrqWr;
  }

  /** Scatter/gather elements of a request of a shared receive queue. */
  public int maxSrqSge() {
    return values.maxSrqSge;
  }

  /** Maximum number of multicast groups, 0 if there are none: {@code max_mcast_grp}. */
  public int maxMulticastGroups() {
    return values.maxMulticastGroups;
  }

  /** Queue pairs of one multicast group: {@code max_mcast_qp_attach}. */
  public int maxMulticastAttach() {
    return values.maxMulticastAttach;
  }

  /** Queue pairs of all multicast groups: {@code max_total_mcast_qp_attach}. */
  public int maxTotalMulticastAttach() {
    return values.maxTotalMulticastAttach;
  }

  /** P_Key table entries. */
  public int maxPkeys() {
    return values.maxPkeys;
  }

  /** As 4.096 us * 2^n. */
  public int localAckDelay() {
    return values.localAckDelay;
  }

  /** Bytes that a send request can carry in itself. */
  public int maxInline() {
    return values.maxInline;
  }

  /**
   * Granularity, in bytes, at which the device checks the bounds of remote accesses: 1 is exact.
   */
  public int remoteBoundsGranularity() {
    return values.remoteBoundsGranularity;
  }

  /** Interrupt vectors for completions. */
  public int completionVectors() {
    return values.completionVectors;
  }

  /** All features, and their implementation. */
  public Map<DeviceFeature, FeatureSupport> features() {
    return Collections.unmodifiableMap(values.features);
  }

  /** Who implements a feature. */
  public FeatureSupport support(DeviceFeature feature) {
    return values.features.get(feature);
  }

  /** Whether a feature is available. */
  public boolean has(DeviceFeature feature) {
    return support(feature) != FeatureSupport.MISSING;
  }

  /** The deviations of the device from the specification. */
  public Set<DeviceQuirk> quirks() {
    return Collections.unmodifiableSet(values.quirks);
  }

  /** Whether it does that. */
  public boolean has(DeviceQuirk quirk) {
    return values.quirks.contains(quirk);
  }

  /** Recommendations for programs. */
  public DeviceAdvice advice() {
    return values.advice;
  }

  /** The device's ids and its largest numbers, for logs. */
  @Override
  public String toString() {
    return "device %04x:%04x, GUID %016x, at most %d QPs, %d CQs, %d MRs, %d SRQs, %d requests of %d elements"
        .formatted(
            vendorId(),
            vendorPartId(),
            nodeGuid(),
            maxQp(),
            maxCq(),
            maxMr(),
            maxSrq(),
            maxQpWr(),
            maxSge());
  }

  /** Collects attributes. Not thread-safe. */
  public static final class Builder implements Cloneable {
    private String firmwareVersion = "";
    private long nodeGuid;
    private long systemImageGuid;
    private int vendorId;
    private int vendorPartId;
    private int hardwareVersion;
    private String boardId;
    private int physicalPorts;
    private long maxMrSize;
    private long pageSizes;
    private int maxQp;
    private int maxQpWr;
    private int maxSge;
    private int maxSgeRead;
    private int maxCq;
    private int maxCqe;
    private int maxMr;
    private int maxPd;
    private int maxQpReadAtomic;
    private int maxReadAtomic;
    private int maxQpInitiatorReadAtomic;
    private boolean atomics;
    private int maxSrq;
    private int maxSrqWr;
    private int maxSrqSge;
    private int maxMulticastGroups;
    private int maxMulticastAttach;
    private int maxTotalMulticastAttach;
    private int maxPkeys;
    private int localAckDelay;
    private int maxInline;
    private int remoteBoundsGranularity = 1;
    private int completionVectors;
    private EnumMap<DeviceFeature, FeatureSupport> features = new EnumMap<>(DeviceFeature.class);
    private EnumSet<DeviceQuirk> quirks = EnumSet.noneOf(DeviceQuirk.class);
    private DeviceAdvice advice = DeviceAdvice.NONE;

    private Builder() {
      for (DeviceFeature feature : DeviceFeature.values()) {
        features.put(feature, FeatureSupport.MISSING);
      }
    }

    /** {@link DeviceAttributes#firmwareVersion}. */
    public Builder firmwareVersion(String value) {
      firmwareVersion = value;
      return this;
    }

    /** {@link DeviceAttributes#nodeGuid}. */
    public Builder nodeGuid(long value) {
      nodeGuid = value;
      return this;
    }

    /** {@link DeviceAttributes#systemImageGuid}. */
    public Builder systemImageGuid(long value) {
      systemImageGuid = value;
      return this;
    }

    /** {@link DeviceAttributes#vendorId}. */
    public Builder vendorId(int value) {
      vendorId = value;
      return this;
    }

    /** {@link DeviceAttributes#vendorPartId}. */
    public Builder vendorPartId(int value) {
      vendorPartId = value;
      return this;
    }

    /** {@link DeviceAttributes#hardwareVersion}. */
    public Builder hardwareVersion(int value) {
      hardwareVersion = value;
      return this;
    }

    /** {@link DeviceAttributes#boardId}. */
    public Builder boardId(String value) {
      boardId = value;
      return this;
    }

    /** {@link DeviceAttributes#physicalPorts}. */
    public Builder physicalPorts(int value) {
      physicalPorts = value;
      return this;
    }

    /** {@link DeviceAttributes#maxMrSize}. */
    public Builder maxMrSize(long value) {
      maxMrSize = value;
      return this;
    }

    /** {@link DeviceAttributes#pageSizes}. */
    public Builder pageSizes(long value) {
      pageSizes = value;
      return this;
    }

    /** {@link DeviceAttributes#maxQp}. */
    public Builder maxQp(int value) {
      maxQp = value;
      return this;
    }

    /** {@link DeviceAttributes#maxQpWr}. */
    public Builder maxQpWr(int value) {
      maxQpWr = value;
      return this;
    }

    /** {@link DeviceAttributes#maxSge}. */
    public Builder maxSge(int value) {
      maxSge = value;
      return this;
    }

    /** {@link DeviceAttributes#maxSgeRead}. */
    public Builder maxSgeRead(int value) {
      maxSgeRead = value;
      return this;
    }

    /** {@link DeviceAttributes#maxCq}. */
    public Builder maxCq(int value) {
      maxCq = value;
      return this;
    }

    /** {@link DeviceAttributes#maxCqe}. */
    public Builder maxCqe(int value) {
      maxCqe = value;
      return this;
    }

    /** {@link DeviceAttributes#maxMr}. */
    public Builder maxMr(int value) {
      maxMr = value;
      return this;
    }

    /** {@link DeviceAttributes#maxPd}. */
    public Builder maxPd(int value) {
      maxPd = value;
      return this;
    }

    /** {@link DeviceAttributes#maxQpReadAtomic}. */
    public Builder maxQpReadAtomic(int value) {
      maxQpReadAtomic = value;
      return this;
    }

    /** {@link DeviceAttributes#maxReadAtomic}. */
    public Builder maxReadAtomic(int value) {
      maxReadAtomic = value;
      return this;
    }

    /** {@link DeviceAttributes#maxQpInitiatorReadAtomic}. */
    public Builder maxQpInitiatorReadAtomic(int value) {
      maxQpInitiatorReadAtomic = value;
      return this;
    }

    /** {@link DeviceAttributes#atomics}. */
    public Builder atomics(boolean value) {
      atomics = value;
      return this;
    }

    /** {@link DeviceAttributes#maxSrq}. */
    public Builder maxSrq(int value) {
      maxSrq = value;
      return this;
    }

    /** {@link DeviceAttributes#maxSrqWr}. */
    public Builder maxSrqWr(int value) {
      maxSrqWr = value;
      return this;
    }

    /** {@link DeviceAttributes#maxSrqSge}. */
    public Builder maxSrqSge(int value) {
      maxSrqSge = value;
      return this;
    }

    /** {@link DeviceAttributes#maxMulticastGroups}. */
    public Builder maxMulticastGroups(int value) {
      maxMulticastGroups = value;
      return this;
    }

    /** {@link DeviceAttributes#maxMulticastAttach}. */
    public Builder maxMulticastAttach(int value) {
      maxMulticastAttach = value;
      return this;
    }

    /** {@link DeviceAttributes#maxTotalMulticastAttach}. */
    public Builder maxTotalMulticastAttach(int value) {
      maxTotalMulticastAttach = value;
      return this;
    }

    /** {@link DeviceAttributes#maxPkeys}. */
    public Builder maxPkeys(int value) {
      maxPkeys = value;
      return this;
    }

    /** {@link DeviceAttributes#localAckDelay}. */
    public Builder localAckDelay(int value) {
      localAckDelay = value;
      return this;
    }

    /** {@link DeviceAttributes#maxInline}. */
    public Builder maxInline(int value) {
      maxInline = value;
      return this;
    }

    /** {@link DeviceAttributes#remoteBoundsGranularity}. */
    public Builder remoteBoundsGranularity(int value) {
      remoteBoundsGranularity = value;
      return this;
    }

    /** {@link DeviceAttributes#completionVectors}. */
    public Builder completionVectors(int value) {
      completionVectors = value;
      return this;
    }

    /** Sets the implementation of some features; others keep theirs. */
    public Builder features(Map<DeviceFeature, FeatureSupport> some) {
      features.putAll(some);
      return this;
    }

    /** {@link DeviceAttributes#quirks}. */
    public Builder quirks(Set<DeviceQuirk> all) {
      quirks = EnumSet.noneOf(DeviceQuirk.class);
      quirks.addAll(all);
      return this;
    }

    /** {@link DeviceAttributes#advice}. */
    public Builder advice(DeviceAdvice value) {
      advice = Objects.requireNonNull(value);
      return this;
    }

    /** The attributes as set so far. */
    public DeviceAttributes build() {
      return new DeviceAttributes(copy());
    }

    private Builder copy() {
      try {
        Builder copy = (Builder) clone();
        copy.features = new EnumMap<>(features);
        copy.quirks = EnumSet.copyOf(quirks);
        return copy;
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }
}

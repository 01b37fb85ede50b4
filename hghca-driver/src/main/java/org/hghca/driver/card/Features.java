package org.hghca.driver.card;

import static org.hghca.verbs.FeatureSupport.MISSING;
import static org.hghca.verbs.FeatureSupport.NATIVE;
import static org.hghca.verbs.FeatureSupport.SOFTWARE;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.FeatureSupport;

/** The features of a card, those that the driver emulates, the missing ones, and the quirks. */
public final class Features {
  /** A send ring and a receive ring, if each needs a key. */
  private static final int KEYS_OF_RINGS = 2;

  private Features() {}

  /**
   * All features of a card.
   *
   * @param eventQueues whether its event queues are in use
   */
  public static Map<DeviceFeature, FeatureSupport> of(Limits limits, boolean eventQueues) {
    Map<DeviceFeature, FeatureSupport> features = new EnumMap<>(DeviceFeature.class);
    for (DeviceFeature feature : DeviceFeature.values()) {
      features.put(feature, support(feature, limits, eventQueues));
    }
    return features;
  }

  private static FeatureSupport support(DeviceFeature feature, Limits limits, boolean eventQueues) {
    HardwareProfile profile = limits.profile();
    return switch (feature) {
      case ATOMICS -> nativeIf(profile.atomics());
      case SEND_WITH_IMMEDIATE -> nativeIf(profile.sendImmediate());
      case ZERO_LENGTH -> nativeIf(profile.zeroLength());
      case INLINE_DATAGRAMS -> nativeIf(profile.inlineOnUd());
      case SHARED_RECEIVE_QUEUES -> sharedReceives(limits, eventQueues);
      case COMPLETION_EVENTS -> eventQueues ? NATIVE : SOFTWARE;
      case SOLICITED_ONLY -> nativeIf(eventQueues);
      case SQD, SQE -> nativeIf(profile.sqdSqeStates());
      case RNR_RETRY, LOSS_RECOVERY -> nativeIf(profile.rnrAndTimeoutInHardware());
      case ACK_TIMEOUT -> profile.rnrAndTimeoutInHardware() ? NATIVE : SOFTWARE;
      case FLUSH -> profile.flushesInHardware() ? NATIVE : SOFTWARE;
      case ENTROPY -> nativeIf(profile.completeTransport());
      case RESIZE_CQ -> SOFTWARE;
      case GSI_QUEUE_PAIR -> nativeIf(limits.has(DeviceExtension.GSI_QUEUE_PAIR));
      case MULTICAST -> nativeIf(limits.has(DeviceExtension.MULTICAST));
      case PATH_MIGRATION -> nativeIf(limits.has(DeviceExtension.ALTERNATE_PATHS));
      case REREGISTRATION -> NATIVE;
      case MEMORY_WINDOWS, ON_DEMAND_PAGING -> MISSING;
    };
  }

  /**
   * The quirks of a card.
   *
   * @param eventQueues whether its event queues are in use
   */
  public static Set<DeviceQuirk> quirks(Limits limits, boolean eventQueues) {
    Set<DeviceQuirk> quirks = EnumSet.noneOf(DeviceQuirk.class);
    for (DeviceQuirk quirk : DeviceQuirk.values()) {
      if (has(quirk, limits.profile(), eventQueues)) {
        quirks.add(quirk);
      }
    }
    return quirks;
  }

  private static boolean has(DeviceQuirk quirk, HardwareProfile profile, boolean eventQueues) {
    return switch (quirk) {
      case NO_IMMEDIATE_VALUE -> !profile.immediateDelivered();
      case NO_CARD_EVENTS -> !eventQueues;
      case PORT_STATE_ASSUMED -> !profile.eventQueues();
      case NO_ERROR_CAUSE, NO_RECEIVE_ERRORS -> !profile.errorCqeHasSyndrome();
      case LOCAL_ERRORS_AT_POST, REGIONS_BUSY_IN_USE -> !profile.badRequestsReported();
      case NO_REMOTE_PROTECTION -> !profile.errorCqes();
      case REMOTE_BOUNDS_BY_PAGE -> profile.remoteBoundsGranularity() != 1;
      case ALIGNED_DESTINATIONS -> profile.destinationAlignment() != 1;
      case NO_GRH -> !profile.grhPlaced();
      case NO_QUEUE_PAIR_ACCESS,
          NO_QKEY_CHECK,
          ONE_DATAGRAM_PEER,
          NO_PSN_WRAP,
          LOSSY_INIT,
          FATAL_REFUSED_READS ->
          !profile.completeTransport();
      case NO_RECONNECTION -> profile.positionsSurviveDestroy() && !profile.positionsResumable();
      case FINITE_QUEUE_PAIR_NUMBERS -> profile.positionsSurviveDestroy();
    };
  }

  private static FeatureSupport sharedReceives(Limits limits, boolean eventQueues) {
    if (limits.maxSrq() == 0) {
      return MISSING;
    }
    return limits.has(DeviceExtension.SHARED_RECEIVE_QUEUES) && eventQueues ? NATIVE : SOFTWARE;
  }

  private static FeatureSupport nativeIf(boolean has) {
    return has ? NATIVE : MISSING;
  }

  private static int bound(int most) {
    return most == HardwareProfile.UNBOUNDED ? 0 : most;
  }

  public static DeviceAdvice advice(Limits limits) {
    HardwareProfile profile = limits.profile();
    return new DeviceAdvice(
        profile.destinationAlignment(),
        bound(limits.inFlight()),
        bound(limits.outstanding()),
        bound(profile.readBytesInFlight()),
        !profile.rnrAndTimeoutInHardware(),
        limits.has(DeviceExtension.RING_OFFSETS) ? 0 : KEYS_OF_RINGS);
  }
}

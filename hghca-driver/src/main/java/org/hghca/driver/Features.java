package org.hghca.driver;

import static org.hghca.verbs.FeatureSupport.MISSING;
import static org.hghca.verbs.FeatureSupport.NATIVE;
import static org.hghca.verbs.FeatureSupport.SOFTWARE;

import java.util.EnumMap;
import java.util.Map;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.FeatureSupport;

/** What a card has, what the driver makes up for, and what is missing. */
final class Features {
  /** A ring of sends and one of receives, where each needs a key. */
  private static final int KEYS_OF_RINGS = 2;

  private Features() {}

  /**
   * All features of a card.
   *
   * @param eventQueues whether its event queues are in use
   */
  static Map<DeviceFeature, FeatureSupport> of(Limits limits, boolean eventQueues) {
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
      case IMMEDIATE_VALUE -> nativeIf(profile.immediateDelivered());
      case ZERO_LENGTH -> nativeIf(profile.zeroLength());
      case INLINE_DATAGRAMS -> nativeIf(profile.inlineOnUd());
      case SHARED_RECEIVE_QUEUES -> sharedReceives(limits, eventQueues);
      case COMPLETION_EVENTS -> eventQueues ? NATIVE : SOFTWARE;
      case SOLICITED_ONLY, CARD_EVENTS -> nativeIf(eventQueues);
      case PORT_STATE -> nativeIf(profile.eventQueues());
      case SQD, SQE -> nativeIf(profile.sqdSqeStates());
      case RNR_RETRY, LOSS_RECOVERY -> nativeIf(profile.rnrAndTimeoutInHardware());
      case ACK_TIMEOUT -> profile.rnrAndTimeoutInHardware() ? NATIVE : SOFTWARE;
      case FLUSH -> profile.flushesInHardware() ? NATIVE : SOFTWARE;
      case ERROR_CAUSE, RECEIVE_ERRORS -> nativeIf(profile.errorCqeHasSyndrome());
      case LOCAL_ERROR_COMPLETIONS, DEREGISTERING_IN_USE -> nativeIf(profile.badRequestsReported());
      case REMOTE_PROTECTION -> nativeIf(profile.errorCqes());
      case BYTE_EXACT_REMOTE_BOUNDS -> nativeIf(profile.remoteBoundsGranularity() == 1);
      case ANY_DESTINATION -> nativeIf(profile.destinationAlignment() == 1);
      case GRH -> nativeIf(profile.grhPlaced());
      case QUEUE_PAIR_ACCESS, QKEY_CHECK, MANY_PEERS, PSN_WRAP, ENTROPY, SAFE_INIT, REFUSED_READS ->
          nativeIf(profile.completeTransport());
      case RECONNECTION ->
          nativeIf(!profile.positionsSurviveDestroy() || profile.positionsResumable());
      case QUEUE_PAIR_NUMBERS_FOR_EVER -> nativeIf(!profile.positionsSurviveDestroy());
      case RESIZE_CQ -> SOFTWARE;
      case MEMORY_WINDOWS, PATH_MIGRATION, MULTICAST, ON_DEMAND_PAGING -> MISSING;
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

  static DeviceAdvice advice(Limits limits) {
    HardwareProfile profile = limits.profile();
    return new DeviceAdvice(
        profile.destinationAlignment(),
        bound(profile.doorbellsInFlight()),
        bound(limits.outstanding()),
        bound(profile.readBytesInFlight()),
        !profile.rnrAndTimeoutInHardware(),
        limits.has(DeviceExtension.RING_OFFSETS) ? 0 : KEYS_OF_RINGS);
  }
}

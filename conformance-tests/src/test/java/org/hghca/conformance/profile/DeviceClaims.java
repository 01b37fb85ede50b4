package org.hghca.conformance.profile;

import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.FeatureSupport;

/** The features that a device reports, in the tests' own terms. */
public final class DeviceClaims {

  private DeviceClaims() {}

  /** Whether the attributes of a device report that it lacks a feature. */
  public static boolean lacks(DeviceAttributes device, Feature feature) {
    return switch (feature) {
      case ATOMICS,
          SEND_WITH_IMMEDIATE,
          ZERO_LENGTH,
          INLINE_DATAGRAMS,
          SHARED_RECEIVE_QUEUES,
          SOLICITED_ONLY,
          SQD,
          SQE,
          RNR_RETRY,
          LOSS_RECOVERY,
          ENTROPY,
          MULTICAST,
          PATH_MIGRATION,
          GSI_QUEUE_PAIR,
          RESIZE_CQ,
          REREGISTRATION ->
          !device.has(DeviceFeature.valueOf(feature.name()));
      case SHARED_QUEUES_OF_THE_DEVICE ->
          device.support(DeviceFeature.SHARED_RECEIVE_QUEUES) != FeatureSupport.NATIVE;
      case IMMEDIATE_VALUE -> device.has(DeviceQuirk.NO_IMMEDIATE_VALUE);
      case CARD_EVENTS -> device.has(DeviceQuirk.NO_CARD_EVENTS);
      case PORT_STATE -> device.has(DeviceQuirk.PORT_STATE_ASSUMED);
      case ERROR_CAUSE -> device.has(DeviceQuirk.NO_ERROR_CAUSE);
      case RECEIVE_ERRORS -> device.has(DeviceQuirk.NO_RECEIVE_ERRORS);
      case LOCAL_ERROR_COMPLETIONS -> device.has(DeviceQuirk.LOCAL_ERRORS_AT_POST);
      case DEREGISTERING_IN_USE -> device.has(DeviceQuirk.REGIONS_BUSY_IN_USE);
      case REFUSED_READS -> device.has(DeviceQuirk.FATAL_REFUSED_READS);
      case REMOTE_PROTECTION -> device.has(DeviceQuirk.NO_REMOTE_PROTECTION);
      case BYTE_EXACT_REMOTE_BOUNDS -> device.has(DeviceQuirk.REMOTE_BOUNDS_BY_PAGE);
      case QUEUE_PAIR_ACCESS -> device.has(DeviceQuirk.NO_QUEUE_PAIR_ACCESS);
      case ANY_DESTINATION -> device.has(DeviceQuirk.ALIGNED_DESTINATIONS);
      case PSN_WRAP -> device.has(DeviceQuirk.NO_PSN_WRAP);
      case GRH -> device.has(DeviceQuirk.NO_GRH);
      case MANY_PEERS -> device.has(DeviceQuirk.ONE_DATAGRAM_PEER);
      case QKEY_CHECK -> device.has(DeviceQuirk.NO_QKEY_CHECK);
      case SAFE_INIT -> device.has(DeviceQuirk.LOSSY_INIT);
      case RECONNECTION -> device.has(DeviceQuirk.NO_RECONNECTION);
      case QUEUE_PAIR_NUMBERS_FOR_EVER -> device.has(DeviceQuirk.FINITE_QUEUE_PAIR_NUMBERS);
    };
  }
}

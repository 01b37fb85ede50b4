package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.hghca.conformance.profile.DeviceClaims;
import org.hghca.conformance.profile.Feature;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A device reports the features of its card. */
class DeviceFeaturesTest {
  private static DeviceAttributes attributes(String parameters) {
    try (Context context = RdmaDevices.open("model:features?mode=inline" + parameters)) {
      return context.queryDevice();
    }
  }

  private static Set<DeviceFeature> with(DeviceAttributes device, FeatureSupport support) {
    return Arrays.stream(DeviceFeature.values())
        .filter(feature -> device.support(feature) == support)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(DeviceFeature.class)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void featuresMissingInTheFactsAreReportedMissing(String profile) {
    DeviceAttributes device = attributes("&profile=" + profile);

    for (Feature feature : Feature.values()) {
      assertThat(DeviceClaims.lacks(device, feature))
          .as("%s lacks %s", profile, feature)
          .isEqualTo(Feature.missingOn(profile).contains(feature));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "s, 'RESIZE_CQ'",
    "s&as=s, 'SHARED_RECEIVE_QUEUES, RESIZE_CQ'",
    "s&events=poll, 'SHARED_RECEIVE_QUEUES, RESIZE_CQ, COMPLETION_EVENTS'",
    "r1, 'COMPLETION_EVENTS, ACK_TIMEOUT, FLUSH, RESIZE_CQ'",
    "r2, 'COMPLETION_EVENTS, ACK_TIMEOUT, FLUSH, RESIZE_CQ'"
  })
  void driverProvidesTheOtherFeaturesInSoftware(String profile, String software) {
    Set<DeviceFeature> expected = EnumSet.noneOf(DeviceFeature.class);
    for (String name : software.split(", ")) {
      expected.add(DeviceFeature.valueOf(name));
    }

    assertThat(with(attributes("&profile=" + profile), FeatureSupport.SOFTWARE))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void noCardHasTheseFeatures(String profile) {
    assertThat(with(attributes("&profile=" + profile), FeatureSupport.MISSING))
        .contains(DeviceFeature.MEMORY_WINDOWS, DeviceFeature.ON_DEMAND_PAGING);
  }

  @ParameterizedTest
  @CsvSource({
    "s, 1, 0, 0, 0, false, 0",
    "s&as=s, 1, 0, 0, 0, false, 2",
    "r1, 32, 40, 1, 896, true, 2",
    "r1&outstanding=8, 32, 40, 8, 896, true, 2",
    "r1&inflight=20, 32, 20, 1, 896, true, 2",
    "r2, 32, 63, 1, 0, true, 2"
  })
  void adviceMatchesWhatTheCardTolerates(
      String profile,
      int alignment,
      int doorbells,
      int outstanding,
      int readBytes,
      boolean ahead,
      int keys) {
    assertThat(attributes("&profile=" + profile).advice())
        .isEqualTo(new DeviceAdvice(alignment, doorbells, outstanding, readBytes, ahead, keys));
  }
}

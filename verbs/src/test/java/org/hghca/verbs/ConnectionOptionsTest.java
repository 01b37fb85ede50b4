package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.verbs.Failures.assertErrno;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionOptionsTest {
  private static final ConnectionOptions DEFAULT = ConnectionOptions.DEFAULT;

  private static final Map<String, Function<ConnectionOptions, Object>> OPTIONS =
      Map.ofEntries(
          Map.entry("port", ConnectionOptions::port),
          Map.entry("gidIndex", ConnectionOptions::gidIndex),
          Map.entry("pathMtu", ConnectionOptions::pathMtu),
          Map.entry("access", ConnectionOptions::access),
          Map.entry("readAtomic", ConnectionOptions::readAtomic),
          Map.entry("minRnrTimer", ConnectionOptions::minRnrTimer),
          Map.entry("timeout", ConnectionOptions::timeout),
          Map.entry("retryCount", ConnectionOptions::retryCount),
          Map.entry("rnrRetry", ConnectionOptions::rnrRetry),
          Map.entry("flowLabel", ConnectionOptions::flowLabel),
          Map.entry("hopLimit", ConnectionOptions::hopLimit),
          Map.entry("trafficClass", ConnectionOptions::trafficClass),
          Map.entry("serviceLevel", ConnectionOptions::serviceLevel));

  private static void assertChanges(String option, ConnectionOptions changed) {
    List<String> different =
        OPTIONS.entrySet().stream()
            .filter(e -> !e.getValue().apply(changed).equals(e.getValue().apply(DEFAULT)))
            .map(Map.Entry::getKey)
            .toList();
    assertThat(different).containsExactly(option);
  }

  @Test
  void eachOptionIsChangedAlone() {
    assertChanges("port", DEFAULT.withPort(2));
    assertChanges("gidIndex", DEFAULT.withGidIndex(1));
    assertChanges("pathMtu", DEFAULT.withPathMtu(Mtu.MTU_4096));
    assertChanges("access", DEFAULT.withAccess(AccessFlag.REMOTE_ATOMIC));
    assertChanges("readAtomic", DEFAULT.withReadAtomic(16));
    assertChanges("minRnrTimer", DEFAULT.withMinRnrTimer(31));
    assertChanges("timeout", DEFAULT.withTimeout(31));
    assertChanges("retryCount", DEFAULT.withRetryCount(0));
    assertChanges("rnrRetry", DEFAULT.withRnrRetry(0));
    assertChanges("flowLabel", DEFAULT.withFlowLabel(0xfffff));
    assertChanges("hopLimit", DEFAULT.withHopLimit(255));
    assertChanges("trafficClass", DEFAULT.withTrafficClass(255));
    assertChanges("serviceLevel", DEFAULT.withServiceLevel(15));
  }

  @ParameterizedTest
  @CsvSource({
    "port, 256",
    "GID index, 256",
    "READs and atomics, 256",
    "minimum RNR timer, 32",
    "timeout, 32",
    "retry count, 8",
    "RNR retry count, 8",
    "flow label, 1048576",
    "hop limit, 256",
    "traffic class, 256",
    "service level, 16"
  })
  void valueThatDoesNotFitIsRefusedWithItsName(String option, int beyond) {
    for (int value : new int[] {beyond, -1}) {
      assertErrno(Errno.EINVAL, () -> with(option, value))
          .hasMessageContaining("%s %d does not fit", option, value);
    }
    assertThat(with(option, beyond - 1)).isNotNull();
  }

  private static ConnectionOptions with(String option, int value) {
    return switch (option) {
      case "port" -> DEFAULT.withPort(value);
      case "GID index" -> DEFAULT.withGidIndex(value);
      case "READs and atomics" -> DEFAULT.withReadAtomic(value);
      case "minimum RNR timer" -> DEFAULT.withMinRnrTimer(value);
      case "timeout" -> DEFAULT.withTimeout(value);
      case "retry count" -> DEFAULT.withRetryCount(value);
      case "RNR retry count" -> DEFAULT.withRnrRetry(value);
      case "flow label" -> DEFAULT.withFlowLabel(value);
      case "hop limit" -> DEFAULT.withHopLimit(value);
      case "traffic class" -> DEFAULT.withTrafficClass(value);
      case "service level" -> DEFAULT.withServiceLevel(value);
      default -> throw new IllegalArgumentException(option);
    };
  }
}

package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The program {@code kv}. */
class KvTest {

  @Test
  void noUpdateOfAnyWriterIsLost() {
    assertThat(Outcome.of("kv").assertSuccess().said())
        .contains("client: key 100 is 50", "client: key 103 is 50")
        .contains("server: 4 clients have left, key 7 is 200");
  }

  @Test
  void cardsWithoutAtomicsAreToldByTheirFeature() {
    Outcome outcome = Outcome.of(Devices.ofTheFirstRtl("kv"));
    assertThat(outcome.exitCode()).isEqualTo(6);
    assertThat(outcome.complained()).startsWith("kv: needs DeviceFeature.ATOMICS");
  }
}

package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The program {@code apm}. */
class ApmTest {

  @Test
  void connectionMigratesUnderTrafficAndBack() {
    String said = Outcome.of("apm").assertSuccess().said();
    assertThat(said)
        .containsSubsequence(
            "client: cuts the first path",
            "client: event PATH_MIG",
            "client: the path leads to fe80:",
            "client: the path leads to 0000:0000:0000:0000:0000:ffff:")
        .contains("server: 4000 messages, each once and in order");
    assertThat(said.lines().filter("server: event PATH_MIG"::equals)).hasSize(2);
  }

  @Test
  void cardWithoutAlternatePathsIsToldByItsFeature() {
    Outcome outcome = Outcome.of("apm", "-d", "model:?profile=r1");
    assertThat(outcome.exitCode()).isEqualTo(6);
    assertThat(outcome.complained()).startsWith("apm: needs DeviceFeature.PATH_MIGRATION, which ");
  }
}

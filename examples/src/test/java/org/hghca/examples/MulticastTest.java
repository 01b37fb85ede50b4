package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The programs {@code mckey} and {@code mc}. */
class MulticastTest {

  @Test
  void everyIdentifierReceivesEveryMessageOfTheGroup() {
    String said = Outcome.of("mckey").assertSuccess().said();
    assertThat(said.lines().filter(line -> line.matches("server: QP \\S+ received 30 messages")))
        .hasSize(3);
    assertThat(said.lines().filter(line -> line.contains("joined")))
        .hasSize(6)
        .allMatch(line -> line.endsWith(":ffff:ef01:0203"));
  }

  @Test
  void receiverKnowsTheSenderByTheImmediateValue() {
    assertThat(Outcome.of("mc").assertSuccess().said())
        .containsSubsequence("client: joined", "client: sent message 3")
        .containsPattern("server: received 'message 3' from QP 0x[0-9a-f]{6}");
  }

  @Test
  void groupMayBeNamed() {
    assertThat(Outcome.of("mc", "239.200.0.9").assertSuccess().said())
        .contains("client: joined 0000:0000:0000:0000:0000:ffff:efc8:0009")
        .contains("server: received 'message 0'");
  }

  @Test
  void cardsWithoutGroupsAreToldByTheirFeature() {
    for (String name : new String[] {"mc", "mckey"}) {
      Outcome outcome = Outcome.of(Devices.ofTheFirstRtl(name));
      assertThat(outcome.exitCode()).isEqualTo(6);
      assertThat(outcome.complained())
          .startsWith(name + ": needs DeviceFeature.MULTICAST, which model:a");
    }
  }
}

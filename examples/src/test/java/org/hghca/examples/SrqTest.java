package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The program {@code srq}. */
class SrqTest {

  private static final Pattern SERVED =
      Pattern.compile(
          "server: 800 messages of 8 clients by 64 receives, posted again at (\\d+) limit events");

  @Test
  void fewReceivesServeManyClients() {
    // 64 receives, and at least 49 more at each event.
    assertThat(events(Outcome.of("srq"))).isBetween(11, 16);
  }

  @Test
  void driversOwnQueueServesThem() {
    assertThat(
            events(
                Outcome.of("srq", "-d", "model:a?as=s&cable=srq", "-d", "model:b?as=s&cable=srq")))
        .isPositive();
  }

  @Test
  void driversQueueServesThemOnAVirtioDevice() {
    assertThat(
            events(
                Outcome.of("srq", "-d", "virtio:srqa?cable=vsrq", "-d", "virtio:srqb?cable=vsrq")))
        .isPositive();
  }

  private static int events(Outcome outcome) {
    assertThat(outcome.assertSuccess().said()).contains("client: all messages have arrived");
    Matcher line = SERVED.matcher(outcome.said());
    assertThat(line.find()).as(outcome.said()).isTrue();
    return Integer.parseInt(line.group(1));
  }

  @Test
  void cardsWithoutSharedQueuesAreToldByTheirFeature() {
    Outcome outcome = Outcome.of(Devices.ofTheFirstRtl("srq"));
    assertThat(outcome.exitCode()).isEqualTo(6);
    assertThat(outcome.complained()).startsWith("srq: needs DeviceFeature.SHARED_RECEIVE_QUEUES");
  }
}

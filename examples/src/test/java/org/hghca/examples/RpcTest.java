package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The program {@code rpc}. */
class RpcTest {

  @Test
  void everyCallIsAnsweredOutOfTheSharedQueue() {
    assertThat(Outcome.of("rpc").assertSuccess().said())
        .contains("client: 2000 answers to 100 threads")
        .contains("server: 2000 requests served, from one shared receive queue");
  }

  @Test
  void cardsOfTheFirstRtlAnswerOutOfReceivesOfEachClient() {
    assertThat(Outcome.of(Devices.ofTheFirstRtl("rpc")).assertSuccess().said())
        .contains("client: 2000 answers to 100 threads")
        .contains("server: 2000 requests served, from receives of each client");
  }
}

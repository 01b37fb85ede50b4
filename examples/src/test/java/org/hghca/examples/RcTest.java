package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The program {@code rc}. */
class RcTest {

  @Test
  void bothEndsMoveTheirMessages() {
    Outcome outcome = Outcome.of("rc");
    assertThat(outcome.assertSuccess().said())
        .contains("client: the server sent 'SEND operation'")
        .contains("client: the server's memory is 'RDMA read operation'")
        .contains("server: the client wrote 'RDMA write operation'");
  }

  @Test
  void bothEndsRunOnCardsOfTheFirstRtl() {
    Outcome.of(Devices.ofTheFirstRtl("rc")).assertSuccess();
  }

  @Test
  void oneDeviceServesBothEnds() {
    Outcome.of("rc", "-d", "model:alone").assertSuccess();
  }

  @Test
  void twoProcessesMoveTheirMessagesOverUdp() throws Exception {
    try (OtherProcess server =
        OtherProcess.of("rc", "server", "-p", "0", "-d", "model:a?net=udp:127.0.0.1")) {
      String port = server.await("server: listening on port (\\d+)");
      OtherProcess client =
          OtherProcess.of(
              "rc", "client", "localhost", "-p", port, "-d", "model:b?net=udp:127.0.0.2");
      try (client) {
        assertThat(client.awaitSuccess())
            .contains("client: the server sent 'SEND operation'")
            .contains("client: the server's memory is 'RDMA read operation'");
      }
      assertThat(server.awaitSuccess()).contains("server: the client wrote 'RDMA write operation'");
    }
  }
}

package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each program in two processes, on software HCAs that reach each other over UDP. */
@Tag("long")
class TwoProcessesTest {
  private static final String SERVER = "model:a?net=udp:127.0.0.1";
  private static final String CLIENT = "model:b?net=udp:127.0.0.2";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          rpc | tcp | 2000 requests served, from one shared receive queue | 2000 answers to 100 threads
          rpc | ib  | 2000 requests served, from one shared receive queue | 2000 answers to 100 threads
          kv  | tcp | 4 clients have left, key 7 is 200                   | key 103 is 50
          kv  | ib  | 4 clients have left, key 7 is 200                   | key 103 is 50
          srq | tcp | 800 messages of 8 clients by 64 receives            | all messages have arrived
          srq | ib  | 800 messages of 8 clients by 64 receives            | all messages have arrived
          """)
  void connectionsByAddress(String name, String carrier, String atServer, String atClient)
      throws Exception {
    try (OtherProcess server =
            OtherProcess.of(name, "server", "-p", "0", "-d", SERVER, "-c", carrier);
        OtherProcess client =
            OtherProcess.of(
                name,
                "client",
                "127.0.0.1",
                "-p",
                server.await("server: listening on port (\\d+)"),
                "-d",
                CLIENT,
                "-c",
                carrier)) {
      assertThat(client.awaitSuccess()).contains("client: " + atClient);
      assertThat(server.awaitSuccess()).contains("server: " + atServer);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "ib"})
  void file(String carrier) throws Exception {
    try (OtherProcess server =
            OtherProcess.of("file", "server", "-p", "0", "-d", SERVER, "-c", carrier);
        OtherProcess client =
            OtherProcess.of(
                "file",
                "client",
                "127.0.0.1",
                "-p",
                server.await("server: listening on port (\\d+)"),
                "-d",
                CLIENT,
                "-c",
                carrier)) {
      assertThat(client.awaitSuccess()).contains("client: 100 %, 17301505 of 17301505 bytes");
      Path received = Path.of(server.await("server: the file is (.*)"));
      assertThat(Files.size(received)).isEqualTo(17_301_505);
      Files.delete(received);
      server.awaitSuccess();
    }
  }

  /** Datagrams that come before the server has joined would be lost. */
  @Test
  void mc() throws Exception {
    try (OtherProcess server = OtherProcess.of("mc", "server", "-d", SERVER, "239.1.2.3")) {
      server.await("server: (joined) .*");
      try (OtherProcess client = OtherProcess.of("mc", "client", "239.1.2.3", "-d", CLIENT)) {
        assertThat(client.awaitSuccess()).contains("client: sent message 3");
      }
      assertThat(server.awaitSuccess()).contains("server: received 'message 3' from QP");
    }
  }

  @Test
  void mckey() throws Exception {
    try (OtherProcess server = OtherProcess.of("mckey", "server", "-d", SERVER, "239.1.2.4")) {
      for (int i = 0; i < 3; i++) {
        server.await("server: (joined) .*");
      }
      try (OtherProcess client = OtherProcess.of("mckey", "client", "239.1.2.4", "-d", CLIENT)) {
        assertThat(client.awaitSuccess()).contains("sent 10 messages");
      }
      assertThat(server.awaitSuccess().lines().filter(line -> line.endsWith("30 messages")))
          .hasSize(3);
    }
  }
}

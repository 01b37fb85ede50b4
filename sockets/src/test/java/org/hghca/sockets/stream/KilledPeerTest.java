package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer in another process is killed: what is written to it fails, and nothing else does. */
class KilledPeerTest {
  private static final String RUNTIME = "hghca.runtime.dir";

  /** Another process, and a stream to it. */
  private record Peer(Process process, ByteStream stream) implements AutoCloseable {
    @Override
    public void close() {
      stream.close();
      process.destroyForcibly();
    }

    void assertAnswers() throws IOException {
      ByteBuffer message = ByteBuffer.allocate(1);
      for (byte i = 0; i < 100; i++) {
        TwoStreamDevices.writeFully(stream, message.clear().put(0, i));
        TwoStreamDevices.readFully(stream, message.clear().put(0, (byte) -1));
        assertThat(message.get(0)).isEqualTo(i);
      }
    }
  }

  private static Peer start(RdmaStreamDevice device, String locator, String address)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile")));
    if (System.getProperty(RUNTIME) != null) {
      command.add("-D%s=%s".formatted(RUNTIME, System.getProperty(RUNTIME)));
    }
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            DyingProgram.class.getName(),
            locator,
            address));
    Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    try (BufferedReader said = process.inputReader()) {
      int port = Integer.parseInt(said.readLine());
      PendingConnect connect =
          device.connect(
              null,
              new InetSocketAddress(InetAddress.ofLiteral(address), port),
              StreamOptions.DEFAULT);
      assertThat(connect.await(TwoStreamDevices.deadline())).isTrue();
      return new Peer(process, connect.finish());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "model:%s?net=shm:killed&ip=%s, 10.0.0.",
    "model:%s?net=udp:%2$s, 127.0.10.",
  })
  void itsStreamIsResetAndNoOtherIs(String locator, String network) throws Exception {
    try (RdmaStreamDevice device =
            RdmaStreamDevice.open(locator.formatted("survivor", network + 1));
        Peer killed = start(device, locator.formatted("killed", network + 2), network + 2);
        Peer other = start(device, locator.formatted("other", network + 3), network + 3)) {
      killed.assertAnswers();
      killed.process.destroyForcibly().waitFor();
      Resets.assertWritesEnd(killed.stream);
      assertThatThrownBy(() -> killed.stream.read(ByteBuffer.allocate(1)))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
      other.assertAnswers();
      try (Peer next = start(device, locator.formatted("next", network + 2), network + 2)) {
        next.assertAnswers();
      }
    }
  }
}

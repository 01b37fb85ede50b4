package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.hghca.sockets.RdmaSelectorProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A C program of sockets and poll under librspreload, and a Java program of channels with the
 * provider: neither knows of RDMA. Where rsocket cannot connect the library takes TCP, for which
 * nobody listens here.
 */
@WithSoftRoce
@DisplayName("sockets of C under librspreload, channels of Java with the provider:")
class PreloadTest {
  private static final String ECHO =
      "env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so /out/programs/echo ";
  private static final long SECONDS = 60;
  private static final int BYTES = 3_000_000;

  @TempDir Path folder;

  @Test
  @DisplayName("C serves")
  void javaAsks(GuestVerbs guest) throws Exception {
    GuestProgram server = GuestProgram.listening(guest, "server", ECHO + "7473 1", "echo");
    Process client = java("7473 %d 10.99.0.11".formatted(BYTES));
    assertThat(client.waitFor(SECONDS, TimeUnit.SECONDS)).as("the Java program ends").isTrue();
    GuestProgram.End served = server.await();
    assertThat(served.output()).as(errors()).isEqualTo("%d bytes returned\n".formatted(BYTES));
    assertThat(served.status()).isZero();
    assertThat(end(client)).isEqualTo("%d bytes verified".formatted(BYTES));
    assertOverRdma("connected=1 accepted=0");
  }

  @Test
  @DisplayName("Java serves")
  void javaServes(GuestVerbs guest) throws Exception {
    Process server = java("7473");
    try (BufferedReader lines = server.inputReader()) {
      assertThat(lines.readLine()).as(errors()).isEqualTo("listening");
      GuestProgram client =
          GuestProgram.start(guest, "client", ECHO + "7473 %d 10.99.0.1".formatted(BYTES));
      assertThat(client.await().with(0).output()).isEqualTo("%d bytes verified\n".formatted(BYTES));
      assertThat(lines.readLine()).as(errors()).isEqualTo("%d bytes returned".formatted(BYTES));
      end(server);
    }
    assertOverRdma("connected=0 accepted=1");
  }

  private Process java(String arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                "-Djava.nio.channels.spi.SelectorProvider=" + RdmaSelectorProvider.class.getName(),
                "-Dorg.hghca.sockets.devices=" + Card.HCA.locator(""),
                "-Dorg.hghca.sockets.networks=10.99.0.0/24",
                "-Dorg.hghca.sockets.report=true",
                "-cp",
                System.getProperty("java.class.path"),
                EchoProgram.class.getName()));
    command.addAll(List.of(arguments.split(" ")));
    return new ProcessBuilder(command)
        .redirectError(Redirect.to(folder.resolve("errors").toFile()))
        .start();
  }

  /** Waits until it has ended well; what it has printed. */
  private String end(Process process) throws IOException, InterruptedException {
    try (BufferedReader lines = process.inputReader()) {
      assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as("the Java program ends").isTrue();
      assertThat(process.exitValue()).as(errors()).isZero();
      return lines.lines().collect(Collectors.joining("\n"));
    } finally {
      process.destroyForcibly();
    }
  }

  private String errors() throws IOException {
    return Files.readString(folder.resolve("errors"));
  }

  private void assertOverRdma(String connections) throws IOException {
    assertThat(errors())
        .containsPattern(
            "hghca sockets: rdma %s open=\\d bytesSent=%d bytesReceived=%d, platform streams=0\n"
                .formatted(connections, BYTES, BYTES));
  }
}

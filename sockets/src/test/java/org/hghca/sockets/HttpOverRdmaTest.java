package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Programs that know nothing of RDMA, in processes of their own. */
@Execution(ExecutionMode.CONCURRENT)
class HttpOverRdmaTest {
  private static final long SECONDS = 60;

  @TempDir Path folder;
  private String provider = RdmaSelectorProvider.class.getName();

  @Test
  void theJdksHttpServerAndClientTalkOverRdmaAlone() throws Exception {
    Process server = start("model:server?net=shm:http&ip=10.0.0.1", "10.0.0.0/8", "server");
    try (var port = server.inputReader()) {
      Process client =
          start(
              "model:client?net=shm:http&ip=10.0.0.2",
              "10.0.0.0/8",
              "client",
              "http://10.0.0.1:" + port.readLine() + "/");

      assertEnds(client, "client");
      assertEnds(server, "server");
      assertThat(errors("client"))
          .containsPattern("hghca sockets: rdma connected=[1-9]\\d* accepted=0 open=\\d+ ")
          .containsPattern("bytesSent=19\\d{5} bytesReceived=19\\d{5}, platform streams=0");
      assertThat(errors("server"))
          .containsPattern("hghca sockets: rdma connected=0 accepted=[1-9]\\d* open=\\d+ ")
          .containsPattern("bytesSent=19\\d{5} bytesReceived=19\\d{5}, platform streams=0");
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void aShutdownHookOfTheProgramStillHasItsSockets() throws Exception {
    Process server = start("model:server?net=shm:hook&ip=10.0.0.1", "10.0.0.0/8", "server");
    try (var port = server.inputReader()) {
      String address = "http://10.0.0.1:" + port.readLine() + "/";
      Process client =
          start("model:client?net=shm:hook&ip=10.0.0.2", "10.0.0.0/8", "client", address, "hook");
      try (var said = client.inputReader()) {
        assertThat(said.readLine()).as(errors("client")).isEqualTo("verified");
      }
      assertEnds(client, "client");
      assertEnds(server, "server");
      assertThat(errors("client")).containsPattern("connected=[1-9]\\d* .* platform streams=0");
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void aNetworkThatIsNoneEndsTheProgramWithItsName() throws Exception {
    Process server = start("model:server?net=shm:http&ip=10.0.0.1", "10.0.0.0/99", "server");

    assertThat(server.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(errors("server"))
        .contains("SocketException: -Dorg.hghca.sockets.networks=10.0.0.0/99: it must be");
  }

  @Test
  void aMisspeltProviderEndsTheProgramWithItsName() throws Exception {
    provider = "org.hghca.sockets.RdmaSelectorProvidor";
    Process server = start("model:server?net=shm:http&ip=10.0.0.1", "10.0.0.0/8", "server");

    assertThat(server.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(server.exitValue()).isNotZero();
    assertThat(errors("server"))
        .contains("ServiceConfigurationError")
        .contains("org.hghca.sockets.RdmaSelectorProvidor");
  }

  private Process start(String device, String networks, String name, String... arguments)
      throws IOException {
    Path runtime = folder.resolve("run");
    if (Files.notExists(runtime)) {
      Files.createDirectory(
          runtime,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dhghca.runtime.dir=" + runtime,
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                "-Djava.nio.channels.spi.SelectorProvider=" + provider,
                "-Dorg.hghca.sockets.devices=" + device,
                "-Dorg.hghca.sockets.networks=" + networks,
                "-Dorg.hghca.sockets.report=true",
                "-cp",
                System.getProperty("java.class.path"),
                HttpProgram.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(Redirect.to(errorsOf(name).toFile())).start();
  }

  private void assertEnds(Process process, String name) throws Exception {
    assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as(name + " ends").isTrue();
    assertThat(process.exitValue()).as(errors(name)).isZero();
  }

  private Path errorsOf(String name) {
    return folder.resolve(name + ".err");
  }

  private String errors(String name) throws IOException {
    return Files.readString(errorsOf(name));
  }
}

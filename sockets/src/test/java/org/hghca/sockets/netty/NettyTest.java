package org.hghca.sockets.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hghca.sockets.RdmaSelectorProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Netty's tests of streams, unmodified, in a process whose channels are ours: what passes on the
 * JDK's own provider passes over RDMA, and nothing of it went another way.
 */
@EnabledIfSystemProperty(named = "hghca.netty", matches = "true")
@Execution(ExecutionMode.CONCURRENT)
class NettyTest {
  private static final int SECONDS = 500;

  /** Tests and invocations, the skipped ones among them, in the release that the build names. */
  private static final int STREAM_TESTS = 184;

  /** Wants netty's native library of OpenSSL, on the JDK's own provider, too. */
  private static final List<String> FAIL_ANYWHERE =
      List.of("SocketSslSessionReuseTest.testSslSessionTrustManagerResumption");

  @TempDir Path folder;

  @Test
  @Timeout(SECONDS + 60)
  void whatPassesOnTheJdksProviderPassesOverRdma() throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process netty = start(out, err);
    try {
      assertThat(netty.waitFor(SECONDS, TimeUnit.SECONDS)).as("netty's tests end").isTrue();
    } finally {
      netty.destroyForcibly();
    }

    List<String> lines = results(out);
    assertThat(lines).as(Files.readString(err)).hasSize(STREAM_TESTS);
    assertThat(lines)
        .filteredOn(line -> line.startsWith("failed "))
        .map(line -> line.split(" ")[1])
        .containsExactlyElementsOf(FAIL_ANYWHERE);
    assertThat(Files.readString(err))
        .as("all streams went over RDMA")
        .containsPattern("hghca sockets: rdma connected=[1-9]\\d{2,} accepted=[1-9]\\d{2,} ")
        .containsPattern("bytesSent=[1-9]\\d{8,} bytesReceived=[1-9]\\d{8,}, platform streams=0");
  }

  private static List<String> results(Path out) throws IOException {
    return Files.readAllLines(out).stream()
        .filter(line -> line.matches("(passed|failed|skipped) .*"))
        .toList();
  }

  private Process start(Path out, Path err) throws IOException {
    Path runtime = folder.resolve("run");
    Files.createDirectory(
        runtime,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-XX:+UseSerialGC",
            "-Dhghca.runtime.dir=" + runtime,
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
            "-Djava.nio.channels.spi.SelectorProvider=" + RdmaSelectorProvider.class.getName(),
            "-Dorg.hghca.sockets.devices=model:netty?net=shm:netty&ip=10.0.0.1",
            "-Dorg.hghca.sockets.net=true", // where netty's tests have a java.net.Socket at one end
            "-Dorg.hghca.sockets.report=true",
            "-cp",
            System.getProperty("java.class.path"),
            NettyProgram.class.getName())
        .redirectOutput(out.toFile())
        .redirectError(Redirect.to(err.toFile()))
        .start();
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.hghca.conformance.lab.TestTool;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Software HCAs at interfaces of the kernel, in a network namespace of their own where that is
 * allowed ({@code unshare -rn}): the RC suite over packet sockets at the two ends of a veth pair,
 * and over UDP between IPv6 addresses.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
class KernelInterfacesTest {
  private static final String NAMESPACE =
      "ip link add v0 type veth peer name v1;"
          + " for i in v0 v1; do ip link set $i addrgenmode none mtu 4200 up; done;"
          + " ip link set lo up; for i in 1 2; do ip address add fd00::$i/128 dev lo nodad; done;"
          + " exec \"$0\" \"$@\"";

  private static final String PACKET_SOCKETS =
      "model:net-a?net=packet:v0,model:net-b?net=packet:v1";

  @TempDir private Path reports;

  @BeforeEach
  void ownDevices() throws InterruptedException {
    TestProfile.requireModel();
    assumeTrue(
        allowsNamespaces(), "this machine allows no namespaces: 'unshare -rn ip link' fails");
  }

  private static boolean allowsNamespaces() throws InterruptedException {
    try {
      return new ProcessBuilder("unshare", "-rn", "ip", "link")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false; // there is no such program
    }
  }

  /**
   * Runs tests inside, and returns what they print.
   *
   * @param devices the locators of the two ends; empty for tests that have their own
   */
  private String run(String devices, String... selections)
      throws IOException, InterruptedException {
    List<String> command =
        Stream.of(
                Stream.of("unshare", "-rn", "sh", "-ec", NAMESPACE),
                Stream.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=deny",
                    "-XX:+UseSerialGC",
                    "-ea",
                    "-Dlogback.configurationFile="
                        + System.getProperty("logback.configurationFile"),
                    "-Djunit.jupiter.execution.timeout.default=60 s",
                    "-Dhghca.profile=s",
                    "-Dhghca.namespace=true",
                    "-Dhghca.device=" + devices,
                    "-Dhghca.soak=" + System.getProperty("hghca.soak", "PT0S"),
                    "-Dhghca.soak.network=" + PACKET_SOCKETS,
                    "-cp",
                    System.getProperty("java.class.path"),
                    KernelInterfacesTest.class.getName(),
                    reports.toString()),
                Arrays.stream(selections))
            .flatMap(parts -> parts)
            .toList();
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
      return output;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Runs tests inside of a namespace. */
  public static void main(String[] arguments) {
    ToolProvider tool = new TestTool();
    System.exit(tool.run(System.out, System.err, arguments));
  }

  /** The connections have link-local GIDs, whose neighbors the ports find by IPv6. */
  @Test
  @Timeout(300)
  void rcSuitePassesOverPacketSockets() throws IOException, InterruptedException {
    assertRcSuitePasses(PACKET_SOCKETS);
  }

  @Test
  @Timeout(300)
  void rcSuitePassesOverUdpWithIpv6() throws IOException, InterruptedException {
    assertRcSuitePasses("model:net-a?net=udp:fd00::1,model:net-b?net=udp:fd00::2");
  }

  /** Of packet sockets, too, nothing is left in a long run. */
  @Test
  @Timeout(value = 7, unit = TimeUnit.DAYS)
  void resourcesDoNotGrowOverPacketSockets() throws IOException, InterruptedException {
    String output =
        run(
            "",
            "org.hghca.conformance.verbs.SoakTest#resourcesDoNotGrowOverANetwork("
                + TestReporter.class.getName()
                + ")");
    assertThat(output).containsPattern("\\[ +1 tests successful +\\]");
  }

  @Test
  @Timeout(300)
  void wiresharkReadsWhatIsOnInterfaces() throws IOException, InterruptedException {
    String output = run("", InterfaceCaptureTest.class.getName());
    assertThat(output).containsPattern("\\[ +0 tests failed +\\]");
    assertThat(output).containsPattern("\\[ +2 tests (successful|aborted) +\\]");
  }

  private void assertRcSuitePasses(String devices) throws IOException, InterruptedException {
    String output = run(devices, "org.hghca.conformance.verbs/rc");
    assertThat(output).containsPattern("\\[ +1[5-9]\\d tests successful +\\]");
    assertThat(output).containsPattern("\\[ +0 tests failed +\\]");
  }
}

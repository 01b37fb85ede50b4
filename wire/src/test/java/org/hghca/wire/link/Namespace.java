package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A Java program in a network namespace of its own, where it may do with interfaces what it likes
 * ({@code unshare -rn}); no privilege is needed where the system allows that.
 */
final class Namespace {

  private Namespace() {}

  /**
   * Runs the main method of a class there, which must end without an error; skips the test where
   * the machine does not allow it.
   *
   * @param setUp a shell command that runs first
   */
  static void run(String setUp, Class<?> main, String argument)
      throws IOException, InterruptedException {
    assumeTrue(isAllowed(), "this machine allows no namespaces: 'unshare -rn ip link' fails");
    Process process =
        new ProcessBuilder(
                "unshare",
                "-rn",
                "sh",
                "-ec",
                setUp + "; exec \"$0\" \"$@\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=deny",
                "-XX:+UseSerialGC",
                "-ea",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName(),
                argument)
            .redirectErrorStream(true)
            .start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean isAllowed() throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder("unshare", "-rn", "ip", "link")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no such program
    }
  }

  /** Runs a shell command inside, and returns what it prints. */
  static String shell(String command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(List.of("sh", "-ec", command)).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(command + ": " + output).isZero();
    return output;
  }
}

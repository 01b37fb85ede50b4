package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Wireshark's command line: what it reads in captures. */
public final class Tshark {
  private static final int PATIENCE_SECONDS = 120;

  private Tshark() {}

  /**
   * The values of fields in each packet of a capture, with '|' between them. Aborts the test where
   * tshark is not installed.
   *
   * @param options further options
   */
  public static List<String> fields(Path capture, List<String> fields, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tshark", "-n", "-r", capture.toString()));
    command.addAll(List.of("-T", "fields", "-E", "separator=|"));
    fields.forEach(field -> command.addAll(List.of("-e", field)));
    command.addAll(List.of(options));
    Path out = Files.createTempFile(capture.toAbsolutePath().getParent(), "fields", "");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return abort("tshark is not installed: apt install tshark (" + e.getMessage() + ")");
    }
    try {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(out);
  }
}

package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A program in a process of its own, which this one ends at the latest when it closes. */
final class OtherProcess implements AutoCloseable {
  private static final int SECONDS = 50;

  private final Process process;
  private final BufferedReader output;

  private OtherProcess(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  static OtherProcess of(String... words) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of(words));
    return new OtherProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** Reads up to a line that matches, and returns the first group of it. */
  String await(String pattern) throws IOException {
    Pattern wanted = Pattern.compile(pattern);
    StringBuilder before = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      Matcher matcher = wanted.matcher(line);
      if (matcher.matches()) {
        return matcher.group(1);
      }
      before.append(line).append('\n');
    }
    throw new AssertionError("no line %s in: %s".formatted(pattern, before));
  }

  /** The rest of its output. */
  String awaitSuccess() throws InterruptedException {
    String said = output.lines().collect(Collectors.joining("\n"));
    assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as(said).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}

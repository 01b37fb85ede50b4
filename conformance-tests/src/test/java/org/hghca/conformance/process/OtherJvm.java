package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hghca.conformance.profile.TestProfile;

/**
 * Runs a program of the tests in a JVM of its own: the program may crash the JVM, or need other
 * options.
 */
public final class OtherJvm {
  private static final int SECONDS = 120;

  private OtherJvm() {}

  /** The exit of a program, and all of its output. */
  public record Ended(int exitValue, String said) {

    /** Checks that it exited normally, not by a signal. */
    public Ended assertSuccess() {
      assertThat(exitValue).as(said).isZero();
      return this;
    }
  }

  /** Runs a program that may call native code. */
  public static Ended run(Class<?> program, String... arguments) {
    return run(List.of("--enable-native-access=ALL-UNNAMED"), program, arguments);
  }

  /**
   * Runs a program to its end.
   *
   * @param options of the JVM
   */
  public static Ended run(List<String> options, Class<?> program, String... arguments) {
    return runMain(options, program.getName(), arguments);
  }

  /** Compiles and runs a program of one source file, as {@code java Name.java} does. */
  public static Ended runSource(Path source) {
    return runMain(List.of("--enable-native-access=ALL-UNNAMED"), source.toString());
  }

  private static Ended runMain(List<String> options, String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:+UseSerialGC", "-XX:-CreateCoredumpOnCrash", "-XX:+ErrorFileToStdout"));
    command.add("-Dhghca.profile=" + TestProfile.name());
    String logging = System.getProperty("logback.configurationFile");
    if (logging != null) {
      command.add("-Dlogback.configurationFile=" + Path.of(logging).toAbsolutePath());
    }
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    try {
      Path said = Files.createTempFile("hghca-jvm", ".out");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
          boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
          String text = Files.readString(said, StandardCharsets.UTF_8);
          assertThat(ended).as("it exited; its output: %s", text).isTrue();
          return new Ended(process.exitValue(), text);
        } finally {
          process.destroyForcibly();
        }
      } finally {
        Files.delete(said);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}

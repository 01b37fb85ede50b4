package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MainTest {

  /** Set by the option debug, for the log's configuration. */
  @AfterEach
  void clearLogLevel() {
    System.clearProperty("hghca.log");
  }

  @Test
  void missingCommandIsWrongUsage() {
    CommandLineRun run = CommandLineRun.of();

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("Missing command").contains("demo", "list", "info", "help");
  }

  @Test
  void unknownOptionIsWrongUsage() {
    CommandLineRun run = CommandLineRun.of("--nosuch");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--nosuch").contains("Usage: hghca");
  }

  @Test
  void helpIsPrintedOnStandardOutput() {
    CommandLineRun run = CommandLineRun.of("help", "info");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .startsWith("Usage: hghca info")
        .contains("--ib-dev", "--ib-port", "--json");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void versionIsThatOfTheBuild() {
    CommandLineRun run = CommandLineRun.of("--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).matches("hghca \\d+\\.\\d+\\.\\d+\\S*\nJava 25.*\n");
  }

  @Test
  void failureIsOneLine() {
    CommandLineRun run = CommandLineRun.of("demo", "-d", FailingProvider.AT_OPEN);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).isEqualTo("hghca: no permission: EACCES (13)\n");
  }

  @Test
  void debugShowsTheStackTrace() {
    CommandLineRun run = CommandLineRun.of("--debug", "demo", "-d", FailingProvider.AT_OPEN);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("hghca: no permission: EACCES (13)\n")
        .contains("at org.hghca.tools.demo.Demo.run");
    assertThat(System.getProperty("hghca.log")).isEqualTo("DEBUG");
  }

  @Test
  void debugIsAnOptionOfEverySubcommand() {
    CommandLineRun run = CommandLineRun.of("info", "--debug", "-d", FailingProvider.AT_QUERY);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("at org.hghca.tools.InfoCommand");
  }

  @Test
  void bugSaysThatItIsOne() {
    CommandLineRun run = CommandLineRun.of("demo", "-d", FailingProvider.UNEXPECTEDLY);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            """
            hghca: internal error: java.lang.IllegalStateException: a bug
            hghca: --debug shows where
            """);
  }
}

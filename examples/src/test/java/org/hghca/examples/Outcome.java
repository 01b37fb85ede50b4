package org.hghca.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/**
 * What a program did.
 *
 * @param exitCode of the process
 * @param said on stdout
 * @param complained on stderr
 */
record Outcome(int exitCode, String said, String complained) {

  /** Runs both ends in this JVM, or what else the command line says. */
  static Outcome of(String... words) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Main.run(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), words);
    return new Outcome(code, out.toString(UTF_8), err.toString(UTF_8));
  }

  Outcome assertSuccess() {
    assertThat(exitCode).as(said + complained).isZero();
    assertThat(complained).isEmpty();
    return this;
  }
}

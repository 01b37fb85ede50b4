package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.hghca.vfio.kernel.Machine;

/**
 * The result of a command line.
 *
 * @param exitCode what the process would have ended with
 * @param out its standard output
 * @param err its standard error
 */
public record CommandLineRun(int exitCode, String out, String err) {

  public static CommandLineRun of(String... args) {
    return on(Machine.local(), args);
  }

  /** On a simulated machine. */
  public static CommandLineRun on(Machine machine, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = Main.run(machine, new PrintWriter(out), new PrintWriter(err), args);
    return new CommandLineRun(exitCode, out.toString(), err.toString());
  }

  /** Asserts how it has ended; returns the run, of which more can be asserted. */
  public CommandLineRun assertExit(int expected) {
    assertThat(exitCode).as("exit code of %s", this).isEqualTo(expected);
    return this;
  }
}

package org.hghca.programs.rdmacm;

import org.hghca.verbs.VerbsException;

/** Failures of calls, which end a program with a line that names the step. */
final class Failures {
  private Failures() {}

  /**
   * Makes a call.
   *
   * @throws FailedException with status -1 and what the call says
   */
  static void check(String step, Runnable call) {
    try {
      call.run();
    } catch (VerbsException e) {
      throw new FailedException(-1, step + ": " + e.getMessage());
    }
  }
}

package org.hghca.tools.demo;

/** A check of the demo failed; the message names the check. */
public final class CheckFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CheckFailedException(String check, String what) {
    super("check '" + check + "' failed: " + what);
  }
}

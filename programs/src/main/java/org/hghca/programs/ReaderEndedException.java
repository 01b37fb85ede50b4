package org.hghca.programs;

/** Ends a command whose output nobody reads any more, which is no failure. */
public final class ReaderEndedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ReaderEndedException() {
    super("the reader of the output has ended");
  }
}

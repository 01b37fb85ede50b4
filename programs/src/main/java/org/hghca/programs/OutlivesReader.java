package org.hghca.programs;

/** A command that goes on when nobody reads its output: its work or its exit code is wanted. */
public interface OutlivesReader {
  /** Whether it does with the options that it was given. */
  default boolean outlivesReader() {
    return true;
  }
}

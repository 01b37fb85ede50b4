package org.hghca.vfio.kernel;

/**
 * One result of a system check.
 *
 * @param subject what it is about: an area such as {@code IOMMU}, or a function's address
 * @param found the fact
 * @param why its consequence for the use of a card; empty when it is obvious
 * @param fix the command, or the step, that fixes it; empty when there is nothing to fix
 */
public record Finding(Level level, String subject, String found, String why, String fix) {

  /** How bad it is. */
  public enum Level {
    /** As it should be. */
    OK,
    /** Information that matters in some cases. */
    NOTE,
    /** Prevents the use of a card. */
    PROBLEM
  }

  static Finding ok(String subject, String found) {
    return new Finding(Level.OK, subject, found, "", "");
  }

  static Finding note(String subject, String found, String why, String fix) {
    return new Finding(Level.NOTE, subject, found, why, fix);
  }

  static Finding problem(String subject, String found, String why, String fix) {
    return new Finding(Level.PROBLEM, subject, found, why, fix);
  }

  /** The finding in one line, as in an error message. */
  public String message() {
    return found + (why.isEmpty() ? "" : ": " + why) + (fix.isEmpty() ? "" : "; fix: " + fix);
  }
}

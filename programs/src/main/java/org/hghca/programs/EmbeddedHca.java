package org.hghca.programs;

import java.io.PrintWriter;

/** The software HCA that the command line uses if there is no card; the library never does. */
public final class EmbeddedHca {
  private static final String LOCATOR = "model:";

  private EmbeddedHca() {}

  /**
   * Prints that the software HCA is used because there is no card.
   *
   * @return its locator
   */
  public static String insteadOfCard(PrintWriter err) {
    err.println("hghca: no card found, using the embedded software HCA (" + LOCATOR + ")");
    return LOCATOR;
  }
}

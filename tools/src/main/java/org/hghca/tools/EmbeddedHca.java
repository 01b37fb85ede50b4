package org.hghca.tools;

import java.io.PrintWriter;

/** The software HCA, which the command line uses where there is no card; the library never does. */
final class EmbeddedHca {
  private static final String LOCATOR = "model:";

  private EmbeddedHca() {}

  /**
   * Says that the software HCA is used for lack of a card.
   *
   * @return its locator
   */
  static String insteadOfCard(PrintWriter err) {
    err.println("hghca: no card found, using the embedded software HCA (" + LOCATOR + ")");
    return LOCATOR;
  }
}

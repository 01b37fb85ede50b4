package org.hghca.model.rtl;

import java.util.ArrayList;
import java.util.List;

/**
 * What was done to the card that breaks it. The first 64 are kept. The effects are played where
 * they happen; this is how a test, or any outside observer, learns the cause. Thread-safe.
 */
final class Hazards {
  private static final int KEPT = 64;

  private final List<String> struck = new ArrayList<>();

  /**
   * Records one.
   *
   * @param line its number: 12.1 to 12.20, or that of another section: 1.4 for doorbells that are
   *     lost, 2.3 for commands that hang, 3.3 for pages that are mapped wrongly, 5.2 for CQEs that
   *     are lost, 6.6 for receives that are looked for outside their queue
   */
  synchronized void strike(String line, String what) {
    if (struck.size() < KEPT) {
      struck.add(line + ": " + what);
    }
  }

  synchronized List<String> list() {
    return List.copyOf(struck);
  }
}

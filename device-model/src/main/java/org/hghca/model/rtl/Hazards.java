package org.hghca.model.rtl;

import java.util.ArrayList;
import java.util.List;

/**
 * Uses that stop or corrupt the card. The first 64 are kept. The effects are modelled where they
 * occur; this class reports the cause to tests and other observers. Thread-safe.
 */
public final class Hazards {
  private static final int KEPT = 64;

  private final List<String> struck = new ArrayList<>();

  /**
   * Records one.
   *
   * @param line its number: 12.1 to 12.21, or that of another section: 1.4 for doorbells that are
   *     lost, 2.3 for commands that hang, 3.3 for pages that are mapped wrongly, 5.2 for CQEs that
   *     are lost, 6.6 for receives that are read outside their queue
   */
  public synchronized void strike(String line, String what) {
    if (struck.size() < KEPT) {
      struck.add(line + ": " + what);
    }
  }

  synchronized List<String> list() {
    return List.copyOf(struck);
  }
}

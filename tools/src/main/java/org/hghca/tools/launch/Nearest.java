package org.hghca.tools.launch;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;

/** The known name that is nearest to a mistyped one. */
public final class Nearest {
  private Nearest() {}

  /** The one that takes the fewest insertions, deletions and replacements. */
  public static String of(String name, Collection<String> known) {
    String wanted = name.toLowerCase(Locale.ROOT);
    return known.stream()
        .min(Comparator.comparingInt(each -> distance(wanted, each.toLowerCase(Locale.ROOT))))
        .orElseThrow();
  }

  private static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int i = 0; i < row.length; i++) {
      row[i] = i;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }
}

package org.hghca.conformance.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The structure of a page, independent of its language.
 *
 * @param headings in order, with their marks
 * @param tables of each its rows, with the header row first
 * @param blocks the blocks of code, without the comments behind commands
 */
record Outline(List<String> headings, List<List<String>> tables, List<String> blocks) {
  private static final String FENCE = "```";
  private static final Pattern COMMENT = Pattern.compile("(?m)(^| +)# .*$");

  static Outline of(String page) {
    List<String> headings = new ArrayList<>();
    List<List<String>> tables = new ArrayList<>();
    List<String> blocks = new ArrayList<>();
    StringBuilder block = null;
    boolean inTable = false;
    for (String line : page.lines().toList()) {
      if (line.startsWith(FENCE)) {
        if (block != null) {
          blocks.add(COMMENT.matcher(block).replaceAll(""));
        }
        block = block == null ? new StringBuilder(line).append('\n') : null;
      } else if (block != null) {
        block.append(line).append('\n');
      } else {
        if (line.startsWith("#")) {
          headings.add(line);
        }
        if (line.startsWith("|")) {
          if (!inTable) {
            tables.add(new ArrayList<>());
          }
          tables.getLast().add(line);
        }
        inTable = line.startsWith("|");
      }
    }
    return new Outline(headings, tables, blocks);
  }

  /** The level of each heading. */
  List<Integer> levels() {
    return headings.stream().map(heading -> heading.indexOf(' ')).toList();
  }

  /** Of each table, how many cells each row has. */
  List<List<Integer>> shapes() {
    return tables.stream().map(rows -> rows.stream().map(Outline::cells).toList()).toList();
  }

  private static int cells(String row) {
    return row.replace("\\|", "").split("\\|", -1).length - 2;
  }

  /** The anchors that headings give, as Markdown viewers make them. */
  List<String> anchors() {
    return headings.stream()
        .map(heading -> heading.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-'))
        .toList();
  }
}

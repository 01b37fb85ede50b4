package org.hghca.tools.monitor;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.TerminalSize;
import org.hghca.tools.monitor.Traffic.Use;

/** One picture of {@code hghca top} on a terminal, over the one before. */
final class Screen {
  // ECMA-48: to the first place; the rest of the line; the rest of the screen.
  private static final String HOME = "\033[H";
  private static final String CLEAR_LINE = "\033[K\n";
  private static final String CLEAR_REST = "\033[J";

  private final TerminalSize size;
  private final StringWriter complaints = new StringWriter();

  Screen(TerminalSize size) {
    this.size = size;
  }

  /** Where complaints go, which follow the table. */
  PrintWriter complaints() {
    return new PrintWriter(complaints, true);
  }

  /**
   * The text to print, of one line less than the terminal has.
   *
   * @param nobody instead of a table without lines
   */
  String text(List<Use> uses, String nobody) {
    List<String> lines = new ArrayList<>();
    long connections = uses.stream().mapToLong(use -> use.connections().size()).sum();
    lines.add("hghca top: %d devices in use, %d queue pairs".formatted(uses.size(), connections));
    complaints.toString().lines().forEach(lines::add);
    if (uses.isEmpty()) {
      lines.add(nobody);
    } else {
      lines.addAll(new TopTable(size.columns(), true).lines(uses));
    }
    StringBuilder text = new StringBuilder(HOME);
    for (String line : lines.subList(0, Math.min(lines.size(), Math.max(1, size.rows() - 1)))) {
      text.append(line, 0, Math.min(line.length(), size.columns())).append(CLEAR_LINE);
    }
    return text.append(CLEAR_REST).toString();
  }
}

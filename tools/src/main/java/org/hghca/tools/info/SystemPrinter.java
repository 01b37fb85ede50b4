package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.hghca.vfio.kernel.Finding;
import org.hghca.vfio.kernel.SystemReport;

/** Prints whether a system is ready for cards, as text and as JSON. */
final class SystemPrinter {
  private static final int SUBJECT_WIDTH = 12;

  private SystemPrinter() {}

  static void print(PrintWriter out, SystemReport report) {
    for (Finding finding : report.findings()) {
      out.printf(
          "%-8s %-" + SUBJECT_WIDTH + "s  %s\n",
          level(finding),
          finding.subject(),
          finding.found());
      line(out, "why: ", finding.why());
      line(out, "fix: ", finding.fix());
    }
    long problems = report.problems();
    out.printf(
        "%s\n",
        problems == 0
            ? "ready: nothing prevents the use of a card"
            : "not ready: %d problem%s".formatted(problems, problems == 1 ? "" : "s"));
  }

  private static void line(PrintWriter out, String head, String text) {
    if (!text.isEmpty()) {
      out.print(" ".repeat("PROBLEM  ".length() + SUBJECT_WIDTH + 2) + head + text + "\n");
    }
  }

  private static String level(Finding finding) {
    return switch (finding.level()) {
      case OK -> "ok";
      case NOTE -> "note";
      case PROBLEM -> "PROBLEM";
    };
  }

  static Map<String, Object> json(SystemReport report) {
    Map<String, Object> system = new LinkedHashMap<>();
    system.put("problems", report.problems());
    List<Map<String, Object>> findings =
        report.findings().stream().map(SystemPrinter::json).toList();
    system.put("findings", findings);
    return Map.of("system", system);
  }

  private static Map<String, Object> json(Finding finding) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("level", finding.level().name().toLowerCase(Locale.ROOT));
    json.put("subject", finding.subject());
    json.put("found", finding.found());
    json.put("why", finding.why());
    json.put("fix", finding.fix());
    return json;
  }
}

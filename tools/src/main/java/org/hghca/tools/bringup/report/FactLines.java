package org.hghca.tools.bringup.report;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.tools.bringup.BringupReport;

/** Program, machine and board of a report, a line of text each. */
final class FactLines {
  private FactLines() {}

  /** The lines by name, in the order of JSON. */
  static Map<String, String> of(Origin origin, BringupReport report) {
    Map<String, String> lines = new LinkedHashMap<>();
    lines.put("hghca", "%s, commit %s".formatted(origin.version(), origin.commit()));
    lines.put("command line", origin.commandLine());
    lines.putAll(origin.machine());
    report.facts().forEach((name, value) -> add(name, value, lines));
    return lines;
  }

  private static void add(String name, Object value, Map<String, String> lines) {
    if (value instanceof Map<?, ?> map) {
      map.forEach((part, each) -> lines.put(name + "." + part, each.toString()));
    } else {
      lines.put(name, value.toString());
    }
  }
}

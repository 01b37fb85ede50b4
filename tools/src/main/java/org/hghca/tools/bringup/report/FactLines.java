package org.hghca.tools.bringup.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
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
    report.facts().forEach((name, value) -> lines.put(name.replace('_', ' '), text(value)));
    return lines;
  }

  private static String text(Object value) {
    return value instanceof Map<?, ?> map
        ? map.entrySet().stream()
            .map(entry -> "%s %s".formatted(entry.getKey(), entry.getValue()))
            .collect(Collectors.joining(", "))
        : value.toString();
  }
}

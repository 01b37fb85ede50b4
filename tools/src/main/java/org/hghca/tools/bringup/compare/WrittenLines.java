package org.hghca.tools.bringup.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The lines of {@code --json-lines}, as the whole report that {@code --json} would have written.
 */
final class WrittenLines {
  private final Decoder decoder;
  private final Map<String, Object> report = new LinkedHashMap<>();
  private final Map<Object, Object> board = new LinkedHashMap<>();
  private final Map<Object, Map<Object, Object>> steps = new LinkedHashMap<>();
  private final List<Object> running = new ArrayList<>();

  private WrittenLines(Decoder decoder) {
    this.decoder = decoder;
  }

  /** The report as far as it goes. */
  static Map<String, Object> whole(List<Map<?, ?>> lines, Decoder decoder) {
    WrittenLines written = new WrittenLines(decoder);
    lines.forEach(written::add);
    return written.whole();
  }

  private void add(Map<?, ?> line) {
    switch (String.valueOf(line.get("type"))) {
      case "start", "end" -> line.forEach((name, value) -> report.put(name.toString(), value));
      case "board" ->
          line.forEach(
              (name, value) -> {
                if (!name.equals("type")) {
                  board.put(name, value);
                }
              });
      case "step" -> step(line);
      default -> {
        // Of a later version, which an older reader may leave out.
      }
    }
  }

  private void step(Map<?, ?> line) {
    Object id = line.get("id");
    Map<Object, Object> known = steps.get(id);
    List<Object> rounds = new ArrayList<>();
    if (known != null) {
      rounds.addAll((List<?>) known.get("rounds"));
    }
    rounds.add(line);
    if (known == null || decoder.verdict(line).outweighs(decoder.verdict(known))) {
      known = new LinkedHashMap<>(line);
    }
    known.put("rounds", rounds);
    steps.put(id, known);
    running.add(id);
  }

  private Map<String, Object> whole() {
    if (!report.containsKey("outcome")) {
      report.put("outcome", "no end: the program was killed" + where());
    }
    report.put("board", board);
    report.put("steps", List.copyOf(steps.values()));
    return report;
  }

  /** The step that had begun. */
  private String where() {
    if (!(report.get("steps") instanceof List<?> all) || all.isEmpty()) {
      return "";
    }
    int round = running.size() / all.size() + 1;
    boolean several = report.get("rounds") instanceof Number rounds && rounds.intValue() > 1;
    return " in %s%s"
        .formatted(
            all.get(running.size() % all.size()), several ? " of round %d".formatted(round) : "");
  }
}

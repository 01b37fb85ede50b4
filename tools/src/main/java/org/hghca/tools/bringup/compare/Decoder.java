package org.hghca.tools.bringup.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.tools.bringup.step.Verdict;

/** Takes a report from the values of JSON, as docs/bring-up.schema.json has them. */
final class Decoder {
  /** What says where a board was, not what it is. */
  private static final Set<String> PLACE = Set.of("pci_address", "iommu");

  private final String file;

  /**
   * A decoder of one file.
   *
   * @param file its name, for messages
   */
  Decoder(String file) {
    this.file = file;
  }

  RecordedReport decode(Map<?, ?> report) {
    Map<?, ?> hghca = get(report, "hghca", Map.class);
    Map<String, String> context = new LinkedHashMap<>();
    context.put("hghca", get(hghca, "version", String.class));
    context.put("commit", get(hghca, "commit", String.class));
    context.put("command", get(report, "command_line", String.class));
    flatten("", get(report, "machine", Map.class), context);
    context.put("device", get(report, "device", String.class));
    context.put("started", get(report, "started", String.class));
    Map<String, String> board = new LinkedHashMap<>();
    flatten("", get(report, "board", Map.class), board);
    for (String place : PLACE) {
      String where = board.remove(place);
      if (where != null) {
        context.put(place, where);
      }
    }
    Map<String, RecordedStep> steps = new LinkedHashMap<>();
    for (Object each : get(report, "steps", List.class)) {
      RecordedStep step = step(as(each, "steps", Map.class));
      steps.put(step.id(), step);
    }
    return new RecordedReport(file, get(report, "outcome", String.class), context, board, steps);
  }

  private RecordedStep step(Map<?, ?> step) {
    List<Double> millis = new ArrayList<>();
    Map<String, List<Double>> speeds = new LinkedHashMap<>();
    for (Object each : get(step, "rounds", List.class)) {
      Map<?, ?> round = as(each, "rounds", Map.class);
      if (verdict(round).isGood()) {
        millis.add(get(round, "milliseconds", Number.class).doubleValue());
        speeds(round)
            .forEach(
                (name, value) ->
                    speeds
                        .computeIfAbsent(name.toString(), _ -> new ArrayList<>())
                        .add(as(value, "speeds", Number.class).doubleValue()));
      }
    }
    String reason = step.containsKey("reason") ? get(step, "reason", String.class) : "";
    return new RecordedStep(get(step, "id", String.class), verdict(step), reason, millis, speeds);
  }

  private Map<?, ?> speeds(Map<?, ?> round) {
    return round.containsKey("speeds") ? get(round, "speeds", Map.class) : Map.of();
  }

  /** The verdict of a step or a round. */
  Verdict verdict(Map<?, ?> of) {
    String name = get(of, "verdict", String.class);
    for (Verdict verdict : Verdict.values()) {
      if (verdict.name().equals(name)) {
        return verdict;
      }
    }
    throw missing("verdict");
  }

  private static void flatten(String prefix, Map<?, ?> map, Map<String, String> into) {
    map.forEach(
        (name, value) -> {
          if (value instanceof Map<?, ?> inner) {
            flatten(prefix + name + ".", inner, into);
          } else {
            into.put(prefix + name, String.valueOf(value));
          }
        });
  }

  private <T> T get(Map<?, ?> map, String key, Class<T> type) {
    return as(map.get(key), key, type);
  }

  private <T> T as(Object value, String key, Class<T> type) {
    if (!type.isInstance(value)) {
      throw missing(key);
    }
    return type.cast(value);
  }

  private UnreadableReportException missing(String key) {
    return new UnreadableReportException(
        "%s breaks docs/bring-up.schema.json at %s: make the report again".formatted(file, key));
  }
}

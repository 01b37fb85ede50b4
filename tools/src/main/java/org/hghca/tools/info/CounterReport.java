package org.hghca.tools.info;

import java.io.PrintWriter;
import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.hghca.model.ModelProvider;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counters;
import org.hghca.vfio.Locator;

/** Counters by group and name: those of a context, and of the software HCA behind it. */
public final class CounterReport {

  private CounterReport() {}

  /** The counters of an open context. */
  static Map<String, Map<String, Long>> of(Context context) {
    Map<String, Map<String, Long>> groups = new LinkedHashMap<>();
    groups.put("context", values(context.counters()));
    ModelProvider.hca(Locator.parse(context.device().locator()))
        .ifPresent(hca -> groups.put("software_hca", values(hca.counters())));
    return groups;
  }

  /** The counters of a context, in their order. */
  public static Map<String, Long> values(Counters counters) {
    Map<String, Long> values = new LinkedHashMap<>();
    counters.asMap().forEach((counter, value) -> values.put(counter.text(), value));
    return values;
  }

  /**
   * The components of a record, in its order, under names like those of C: numbers, and maps of
   * numbers, such as the drops by cause, whose values follow under the names of both.
   */
  private static Map<String, Long> values(Record record) {
    Map<String, Long> values = new LinkedHashMap<>();
    for (RecordComponent component : record.getClass().getRecordComponents()) {
      String name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
      Object value;
      try {
        value = component.getAccessor().invoke(record);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e); // counters are public
      }
      if (value instanceof Map<?, ?> map) {
        map.forEach(
            (key, number) ->
                values.put(
                    name + "_" + key.toString().toLowerCase(Locale.ROOT),
                    ((Number) number).longValue()));
      } else {
        values.put(name, ((Number) value).longValue());
      }
    }
    return values;
  }

  /** The counters that a running program shows of a device. */
  static void print(PrintWriter out, String indent, Snapshot snapshot) {
    out.printf(
        "%sprogram:\t%s, process %d, with %s\n",
        indent, snapshot.program().name(), snapshot.program().pid(), snapshot.device());
    Map<String, Map<String, Long>> groups = new LinkedHashMap<>();
    for (Kind kind : new Kind[] {Kind.CONTEXT, Kind.PORT, Kind.LINK}) {
      snapshot
          .rows(kind)
          .forEach(
              row -> {
                String name = kind.name().toLowerCase(Locale.ROOT);
                String number = kind == Kind.CONTEXT ? "_" + row.subject().context() : "";
                groups.put(name + number, row.values());
              });
    }
    print(out, indent + "\t", groups);
  }

  public static void print(PrintWriter out, String indent, Map<String, Map<String, Long>> groups) {
    groups.forEach(
        (group, values) -> {
          out.printf("%scounters of the %s:\n", indent, group.replace('_', ' '));
          values.forEach((name, value) -> out.printf("%s\t%-24s%16d\n", indent, name, value));
        });
  }
}

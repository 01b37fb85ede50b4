package org.hghca.tools.perf.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import com.fasterxml.jackson.jr.ob.ValueIterator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hghca.tools.perf.PerfException;

/**
 * Results of files, by what they have in common. A file holds documents as {@code --out_json} of
 * perftest and of this project writes them, {@code test_info} and {@code results}: one, several one
 * after another, or several as the list {@code tests}. Not thread-safe.
 */
public final class Results {
  private final TreeMap<Series, List<Double>> values = new TreeMap<>();

  /**
   * Adds those of a file.
   *
   * @throws PerfException when it cannot be read, or has no results
   */
  public void add(Path file) {
    try (ValueIterator<Object> documents = JSON.std.anySequenceFrom(Files.readString(file))) {
      int before = count();
      while (documents.hasNextValue()) {
        document(file, documents.nextValue());
      }
      if (count() == before) {
        throw new PerfException("%s has no results".formatted(file));
      }
    } catch (IOException e) {
      throw new PerfException("%s: %s".formatted(file, firstLine(e)));
    }
  }

  private static String firstLine(IOException e) {
    return e.toString().lines().findFirst().orElse("");
  }

  private int count() {
    return values.values().stream().mapToInt(List::size).sum();
  }

  private void document(Path file, Object document) {
    if (document instanceof List<?> list) {
      list.forEach(each -> document(file, each));
    } else if (document instanceof Map<?, ?> map && map.get("tests") instanceof List<?> tests) {
      document(file, tests);
    } else if (document instanceof Map<?, ?> map
        && map.get("test_info") instanceof Map<?, ?> info
        && map.get("results") != null) {
      Object results = map.get("results");
      List<?> rows = results instanceof List<?> list ? list : List.of(results);
      rows.forEach(row -> row(file, info, row));
    } else {
      throw new PerfException(
          "%s must have test_info and results, as --out_json of perftest writes them"
              .formatted(file));
    }
  }

  private void row(Path file, Map<?, ?> info, Object row) {
    if (!(row instanceof Map<?, ?> cells && cells.get("MsgSize") instanceof Number size)) {
      throw new PerfException("%s has a result without MsgSize".formatted(file));
    }
    String test = "%s %s".formatted(info.get("test"), info.get("Connection_type"));
    int pairs = info.get("Number_of_qps") instanceof Number number ? number.intValue() : 1;
    for (Metric metric : metrics(cells)) {
      if (cells.get(metric.key()) instanceof Number value) {
        values
            .computeIfAbsent(
                new Series(test, pairs, size.longValue(), metric), _ -> new ArrayList<>())
            .add(value.doubleValue());
      }
    }
  }

  /** The average only where there is no median: a few long samples move it. */
  private static List<Metric> metrics(Map<?, ?> cells) {
    return cells.containsKey(Metric.MEDIAN.key())
        ? List.of(Metric.MEDIAN, Metric.PERCENTILE_99)
        : List.of(Metric.THROUGHPUT, Metric.AVERAGE_BY_TIME);
  }

  /** The values of each, in the order of the files. */
  Map<Series, List<Double>> values() {
    return values;
  }
}

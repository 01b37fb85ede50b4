package org.hghca.programs.perf.compare;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.jr.ob.JSON;
import com.fasterxml.jackson.jr.ob.ValueIterator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hghca.programs.perf.PerfException;

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
   * @param file its name, for messages
   * @throws PerfException when it is not JSON, or has no results
   */
  public void add(String file, String text) {
    if (text.isBlank()) {
      throw new PerfException("%s: the file is empty".formatted(file));
    }
    int before = count();
    try (ValueIterator<Object> documents = JSON.std.anySequenceFrom(text)) {
      while (documents.hasNextValue()) {
        document(file, documents.nextValue());
      }
    } catch (JacksonException e) {
      throw new PerfException("%s: malformed JSON%s".formatted(file, place(e.getLocation())));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it reads from memory
    }
    if (count() == before) {
      throw new PerfException("%s has no results".formatted(file));
    }
  }

  private static String place(JsonLocation location) {
    return location == null
        ? ""
        : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }

  private int count() {
    return values.values().stream().mapToInt(List::size).sum();
  }

  private void document(String file, Object document) {
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

  private void row(String file, Map<?, ?> info, Object row) {
    if (!(row instanceof Map<?, ?> cells && cells.get("MsgSize") instanceof Number size)) {
      throw new PerfException("%s has a result without MsgSize".formatted(file));
    }
    String test = "%s %s".formatted(info.get("test"), info.get("Connection_type"));
    int pairs = info.get("Number_of_qps") instanceof Number number ? number.intValue() : 1;
    for (Metric metric : metrics(cells)) {
      if (cells.get(metric.key()) instanceof Number value) {
        if (!Double.isFinite(value.doubleValue())) {
          throw new PerfException("%s: %s is no number: %s".formatted(file, metric.key(), value));
        }
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

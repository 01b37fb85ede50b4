package org.hghca.programs.perf.suite;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.page.Measurement;
import org.hghca.programs.perf.page.PerfReport;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;

/**
 * What a suite measured.
 *
 * @param facts about devices and machine, by name
 * @param rows in their order
 */
public record SuiteReport(Map<String, String> facts, List<Row> rows) {
  /** Whether no row failed. */
  public boolean isGood() {
    return rows.stream().noneMatch(Row.Failed.class::isInstance);
  }

  /**
   * The facts and, as the list {@code tests}, a document of each test as perftest has it, with the
   * rows that failed as {@code failures} and those that the device lacks as {@code unsupported}.
   */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("facts", facts);
    json.put("tests", byTest().values().stream().map(SuiteReport::document).toList());
    return json;
  }

  private Map<String, List<Row>> byTest() {
    Map<String, List<Row>> tests = new LinkedHashMap<>();
    rows.forEach(row -> tests.computeIfAbsent(row.test(), _ -> new ArrayList<>()).add(row));
    return tests;
  }

  private static Map<String, Object> document(List<Row> rows) {
    Map<String, Object> info = new LinkedHashMap<>();
    List<Object> results = new ArrayList<>();
    List<Object> failures = new ArrayList<>();
    List<Object> unsupported = new ArrayList<>();
    for (Row row : rows) {
      switch (row) {
        case Row.Measured measured -> {
          ((Map<?, ?>) measured.document().get("test_info"))
              .forEach((name, value) -> info.putIfAbsent(name.toString(), value));
          results.add(measured.document().get("results"));
        }
        case Row.Failed failed -> failures.add(reason(failed.asked(), failed.why()));
        case Row.Unsupported lacking -> unsupported.add(reason(lacking.asked(), lacking.why()));
      }
    }
    Parameters asked = rows.getFirst().asked();
    info.putIfAbsent("test", asked.title().replace(' ', '_'));
    info.putIfAbsent("Connection_type", asked.type().name());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("test_info", info);
    json.put("results", results);
    if (!failures.isEmpty()) {
      json.put("failures", failures);
    }
    if (!unsupported.isEmpty()) {
      json.put("unsupported", unsupported);
    }
    return json;
  }

  private static Map<String, Object> reason(Parameters asked, String why) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("MsgSize", asked.largest());
    row.put("reason", why);
    return row;
  }

  /** The page, with a section of each test. */
  public PerfReport page() {
    List<Measurement> measurements = new ArrayList<>();
    byTest().forEach((title, of) -> measurements.add(measurement(title, of)));
    return new PerfReport("hghca perf suite", facts, measurements);
  }

  private static Measurement measurement(String title, List<Row> rows) {
    List<Figure> figures = new ArrayList<>();
    List<Course> courses = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    for (Row row : rows) {
      switch (row) {
        case Row.Measured measured -> {
          figures.add(measured.figure());
          courses.addAll(measured.courses());
        }
        case Row.Failed failed -> remarks.add(failed.remark());
        case Row.Unsupported lacking -> remarks.add(lacking.remark());
      }
    }
    boolean gigabits = rows.getFirst().asked().report().gigabits();
    return new Measurement(title, gigabits, figures, courses, remarks);
  }
}

package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The test results of one profile, kept in a file between the executions of a build, each of which
 * runs on one profile.
 */
final class ProfileResults {
  private static final String SEPARATOR = "\t";

  private final String profile;
  private final Map<String, Result> results;

  ProfileResults(String profile, Map<String, Result> results) {
    this.profile = profile;
    this.results = new TreeMap<>(results);
  }

  /** Short name. */
  String profile() {
    return profile;
  }

  /** Of a test, or of the class that it is in. */
  Result of(String test) {
    Result ofClass = results.getOrDefault(classOf(test), Result.NOT_RUN);
    return results.getOrDefault(test, ofClass);
  }

  private static String classOf(String test) {
    return test.contains("#") ? test.substring(0, test.indexOf('#')) : test;
  }

  /** Whether every case that has a test was run, or is known to be unsupported. */
  boolean isComplete(List<Row> rows) {
    return rows.stream()
        .filter(Row::hasTest)
        .noneMatch(row -> of(row.test()).outcome() == Outcome.NOT_RUN);
  }

  /** Whether no case was run. */
  boolean isEmpty(List<Row> rows) {
    return rows.stream().allMatch(row -> of(row.test()).outcome() == Outcome.NOT_RUN);
  }

  private static Path file(String profile) {
    return CaseTable.project().resolve("conformance-tests/target/verbs-cases-" + profile + ".txt");
  }

  void save() {
    List<String> lines = new ArrayList<>();
    results.forEach(
        (test, result) ->
            lines.add(
                String.join(
                    SEPARATOR,
                    test,
                    result.outcome().name(),
                    String.join(SEPARATOR, result.missing()))));
    try {
      Files.createDirectories(file(profile).getParent());
      Files.write(file(profile), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The results of the last run on a profile; empty when there was none. */
  static ProfileResults load(String profile) {
    Map<String, Result> results = new TreeMap<>();
    try {
      if (Files.exists(file(profile))) {
        for (String line : Files.readAllLines(file(profile))) {
          List<String> parts = List.of(line.split(SEPARATOR));
          results.put(
              parts.getFirst(),
              new Result(Outcome.valueOf(parts.get(1)), parts.subList(2, parts.size())));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new ProfileResults(profile, results);
  }
}

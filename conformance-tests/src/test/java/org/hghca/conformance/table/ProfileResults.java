package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The test results of one profile, kept in a file for each class between the executions of a build,
 * each of which runs on one profile.
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

  /** Where results are kept; those on a named device are not those on software HCAs. */
  static Path folder(Path project, String device) {
    String name = device.isEmpty() ? "verbs-cases" : "verbs-cases-of-device";
    return project.resolve("conformance-tests/target").resolve(name);
  }

  /** Replaces the results of all classes that were run. */
  void save(Path folder) {
    Map<String, List<String>> lines = new TreeMap<>();
    results.forEach(
        (test, result) ->
            lines
                .computeIfAbsent(classOf(test), _ -> new ArrayList<>())
                .add(
                    String.join(
                        SEPARATOR,
                        test,
                        result.outcome().name(),
                        String.join(SEPARATOR, result.missing()))));
    try {
      Path here = Files.createDirectories(folder.resolve(profile));
      for (Map.Entry<String, List<String>> ofClass : lines.entrySet()) {
        Files.write(here.resolve(ofClass.getKey()), ofClass.getValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The results of the last runs on a profile; empty when there were none. */
  static ProfileResults load(Path folder, String profile) {
    Map<String, Result> results = new TreeMap<>();
    Path here = folder.resolve(profile);
    if (Files.isDirectory(here)) {
      try (DirectoryStream<Path> classes = Files.newDirectoryStream(here)) {
        for (Path file : classes) {
          read(file, results);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return new ProfileResults(profile, results);
  }

  private static void read(Path file, Map<String, Result> results) throws IOException {
    for (String line : Files.readAllLines(file)) {
      List<String> parts = List.of(line.split(SEPARATOR));
      results.put(
          parts.getFirst(),
          new Result(Outcome.valueOf(parts.get(1)), parts.subList(2, parts.size())));
    }
  }
}
